"""A Switchboard of its own: fresh store, an agent with its key, and the connections a scenario wants."""
import base64
import json
import os
import secrets
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

from .processes import memory_mb, wait_for

AGENT = "default"


class Switchboard:
    """Serves on loopback from a folder that goes with it."""

    def __init__(self, processes, binary, port, *, postgres=None, internal=(), commands=(), environment=None):
        self.processes, self.binary, self.port = processes, binary, port
        self.folder = tempfile.TemporaryDirectory(prefix="switchboard-bench-")
        secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
        self.key = f"sb_admin_{uuid.uuid4().hex}_{secret}"
        self.environment = {**os.environ, "SWITCHBOARD_BOOTSTRAP_ADMIN_KEY": self.key, **(environment or {})}
        self.config = Path(self.folder.name) / "bench.toml"
        lines = ["[server]", "rate_per_second = 1000000", "rate_burst = 1000000", "[log]", 'filter = "warn"']
        if postgres:
            self.environment["BENCH_DATABASE"] = postgres
            self.environment["BENCH_VAULT_KEY"] = base64.b64encode(secrets.token_bytes(32)).decode()
            lines += ["[store]", 'backend = "postgres"', 'url = { env = "BENCH_DATABASE" }']
            lines += ["[vault]", 'key = { env = "BENCH_VAULT_KEY" }']
        for url in internal:
            lines += ["[[internal_urls]]", 'purpose = "mcp"', f'url = "{url}"']
        for name, command, more in commands:
            lines += ["[[connections]]", f'name = "{name}"', f"command = {json.dumps(command)}", *more]
        self.config.write_text("\n".join(lines) + "\n")
        self.start()

    def start(self):
        """Starts it and waits until it is ready; the milliseconds that took are kept in `ready_ms`."""
        log = open(Path(self.folder.name) / "log", "ab")
        self.child = self.processes.start(
            [self.binary, "serve", "--config", self.config, "--data", Path(self.folder.name) / "data", "--no-sample",
             "--listen", f"127.0.0.1:{self.port}"], env=self.environment, stdout=log, stderr=log)
        self.ready_ms = round(wait_for(f"http://127.0.0.1:{self.port}/ready"))
        return self

    @property
    def pid(self):
        return self.child.pid

    @property
    def mcp(self):
        return f"http://127.0.0.1:{self.port}/mcp"

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1{path}", method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"authorization": f"Bearer {self.key}", "content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.read().decode()}") from error
        return json.loads(text) if text else None

    def connect(self, label, url, tools, effect="read_only", permission="allow"):
        """Adds a connection by URL and grants tools of it."""
        self.call("POST", "/connections", {
            "label": label, "url": url, "transport": "streamable_http", "trusted": True})
        self.grant(label, tools, effect, permission)

    def grant(self, label, tools, effect="read_only", permission="allow"):
        """Looks at a connection's tools, says what they are, and grants them."""
        self.call("POST", f"/connections/{label}/test")
        for tool in tools:
            self.call("PUT", f"/connections/{label}/tools/{tool}/classification", {"risk": "low", "effect": effect})
            self.call("PUT", f"/agents/{AGENT}/grants", {"connection": label, "tool": tool, "permission": permission})

    def agent_key(self):
        return self.call("POST", "/keys", {"name": f"bench-{secrets.token_hex(4)}", "kind": "agent", "agent": AGENT})["secret"]

    def memory(self):
        return {"rss_mb": memory_mb(self.pid), "anon_mb": memory_mb(self.pid, "RssAnon")}

    def record(self):
        """What the record's writer counted since the start, by name."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        begin = "switchboard_record_"
        return {name.removeprefix(begin): int(count) for name, count in (line.split(" ") for line in lines if line.startswith(begin))}

    def stop(self):
        self.processes.end(self.child)

    def close(self):
        self.stop()
        time.sleep(0.2)
        self.folder.cleanup()
