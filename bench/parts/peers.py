"""Other gateways, each in front of the same echo as Switchboard: started as their documentation says, one worker each."""
import json
import os
import secrets
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from .load import ROOT, Lane, tool
from .processes import wait_for, wait_for_port

FOLDER = ROOT / ".cache" / "bench-peers"
HERE = ROOT / "bench" / "peers"
ECHO = "http://127.0.0.1:9801/mcp"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Peer:
    """A started gateway: how to call it, and how many calls it can bear in a bounded time with 1 and with 32 clients."""

    def __init__(self, child, lane, version, calls):
        self.child, self.lane, self.version, self.calls = child, lane, version, calls
        lane.pid = child.pid


def version(folder, package):
    """The installed version of a Python package."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([folder / "bin" / "python", "-c", code], capture_output=True, text=True).stdout.strip()


def mcp_proxy(processes):
    folder = FOLDER / "mcp-proxy"
    if not (folder / "bin" / "mcp-proxy").exists():
        return None
    child = processes.start([folder / "bin" / "mcp-proxy", "--host", "127.0.0.1", "--port", 9811, "--", tool("echo-stdio")], **QUIET)
    wait_for_port(9811)
    return Peer(child, Lane("mcp-proxy (stdio)", "http://127.0.0.1:9811/mcp"), version(folder, "mcp-proxy"), {1: 2000, 32: 4000})


def fastmcp(processes):
    folder = FOLDER / "fastmcp"
    if not (folder / "bin" / "python").exists():
        return None
    child = processes.start([folder / "bin" / "python", HERE / "fastmcp_proxy.py", 9812, ECHO], **QUIET)
    wait_for_port(9812)
    return Peer(child, Lane("FastMCP proxy", "http://127.0.0.1:9812/mcp"), version(folder, "fastmcp"), {1: 200, 32: 200})


def supergateway(processes):
    folder = FOLDER / "supergateway" / "node_modules" / "supergateway"
    if not folder.exists():
        return None
    child = processes.start(
        ["node", "-r", ROOT / "crates" / "testkit" / "tools" / "loopback.cjs", folder / "dist" / "index.js", "--stdio", tool("echo-stdio"),
         "--outputTransport", "streamableHttp", "--stateful", "--port", 9813, "--logLevel", "none"], **QUIET)
    wait_for_port(9813)
    found = json.loads((folder / "package.json").read_text())["version"]
    return Peer(child, Lane("supergateway (stdio)", "http://127.0.0.1:9813/mcp"), found, {1: 2000, 32: 4000})


def contextforge(processes):
    folder = FOLDER / "contextforge"
    if not (folder / "bin" / "mcpgateway").exists():
        return None
    state, signing = tempfile.mkdtemp(prefix="switchboard-bench-"), secrets.token_hex(32)
    environment = {
        **os.environ, "JWT_SECRET_KEY": signing, "AUTH_ENCRYPTION_SECRET": secrets.token_hex(32),
        "PLATFORM_ADMIN_PASSWORD": f"Bench-{secrets.token_hex(8)}A1!", "BASIC_AUTH_PASSWORD": secrets.token_hex(16),
        "PLATFORM_ADMIN_EMAIL": "admin@example.com", "DATABASE_URL": f"sqlite:///{state}/mcp.db", "CACHE_TYPE": "memory",
        "ENVIRONMENT": "development", "SSRF_ALLOW_LOCALHOST": "true", "SSRF_ALLOW_PRIVATE_NETWORKS": "true", "LOG_LEVEL": "ERROR",
        "MCPGATEWAY_UI_ENABLED": "false", "MCPGATEWAY_ADMIN_API_ENABLED": "true", "RATE_LIMITING_ENABLED": "false",
        "USE_STATEFUL_SESSIONS": "true"}
    child = processes.start([folder / "bin" / "mcpgateway", "--host", "127.0.0.1", "--port", 9814, "--workers", 1],
                            env=environment, cwd=state, **QUIET)
    base = "http://127.0.0.1:9814"
    wait_for(f"{base}/health", 120)
    token = subprocess.run(
        [folder / "bin" / "python", "-m", "mcpgateway.utils.create_jwt_token", "--username", "admin@example.com", "--admin",
         "--exp", "10080", "--secret", signing], env=environment, cwd=state, capture_output=True, text=True).stdout.split()[-1]

    def call(path, body=None):
        request = urllib.request.Request(base + path, data=json.dumps(body).encode() if body else None, headers={
            "authorization": f"Bearer {token}", "content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    call("/gateways", {"name": "bench", "url": ECHO, "transport": "STREAMABLEHTTP"})
    listed = call("/tools")
    listed = listed if isinstance(listed, list) else listed.get("tools") or listed.get("data")
    echo = next(one for one in listed if one["name"].endswith("echo"))
    server = call("/servers", {"server": {"name": "benchvs", "associated_tools": [echo["id"]]}})
    lane = Lane("ContextForge", f"{base}/servers/{server['id']}/mcp/", echo["name"], token)
    return Peer(child, lane, version(folder, "mcp-contextforge-gateway"), {1: 200, 32: 400})


def litellm(processes):
    folder = FOLDER / "litellm"
    if not (folder / "bin" / "litellm").exists():
        return None
    state, key = Path(tempfile.mkdtemp(prefix="switchboard-bench-")), f"sk-bench-{secrets.token_hex(12)}"
    (state / "config.yaml").write_text(
        "general_settings:\n  master_key: os.environ/LITELLM_MASTER_KEY\nlitellm_settings:\n  telemetry: false\n"
        f"mcp_servers:\n  echosrv:\n    url: {ECHO}\n    transport: http\n    auth_type: none\n")
    environment = {**os.environ, "LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR",
                   "LITELLM_MODE": "PRODUCTION"}
    child = processes.start([folder / "bin" / "litellm", "--config", state / "config.yaml", "--host", "127.0.0.1", "--port", 9815,
                             "--telemetry", "False", "--num_workers", 1], env=environment, cwd=state, **QUIET)
    wait_for("http://127.0.0.1:9815/health/liveliness", 180)
    lane = Lane("LiteLLM", "http://127.0.0.1:9815/mcp/", "echosrv-echo", headers=[f"x-litellm-api-key: Bearer {key}"])
    return Peer(child, lane, version(folder, "litellm"), {1: 200, 32: 400})


PEERS = [mcp_proxy, supergateway, fastmcp, contextforge, litellm]
