"""What is measured. Each scenario gives rows for one table of docs/benchmarks.md."""
import json
import os
import subprocess
import time
from pathlib import Path

from .load import ROOT, Lane, fdatasync_ms, interleave, summary, tool
from .peers import PEERS
from .processes import descriptors, memory_mb, say, tree, wait_for_port
from .switchboard import Switchboard

ECHO, FLOOR, GATEWAY, MANY, STDIO = 9801, 9802, 9803, 9804, 9805
# Servers people use, where the tests' tools are installed; a child of these takes long to start.
PUBLISHED = {"everything": [str(ROOT / ".cache" / part) for part in
                            ("node22/node_modules/.bin/node", "npm/node_modules/.bin/mcp-server-everything")] + ["stdio"]}
SAID = ["--args", json.dumps({"message": "x" * 64}), "--contains"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Bench:
    """One run: the echo, the floor, and how much load."""

    def __init__(self, processes, binary, options):
        self.processes, self.binary, self.options = processes, binary, options
        self.rounds = 2 if options.quick else options.rounds
        processes.start([tool("echo-http"), ECHO], **QUIET)
        self.floor = processes.start([tool("floor-proxy"), FLOOR, ECHO], **QUIET)
        wait_for_port(ECHO)
        wait_for_port(FLOOR)

    def amount(self, clients):
        """(clients, calls, seconds) of one load."""
        calls = {1: 4000, 32: 20000, 256: 20000}.get(clients, 4000)
        return (clients, calls // 5, 5) if self.options.quick else (clients, calls, 10)

    def lanes(self, extra=()):
        return [Lane("direct", f"http://127.0.0.1:{ECHO}/mcp", extra=extra),
                Lane("floor", f"http://127.0.0.1:{FLOOR}/mcp", pid=self.floor.pid, extra=extra)]

    def gateway(self, postgres=None, binary=None, **more):
        """A Switchboard with one connection that only reads and one that may change something."""
        urls = [f"http://127.0.0.1:{ECHO}/{path}" for path in ("ro", "rw")]
        gateway = Switchboard(self.processes, binary or self.binary, GATEWAY, postgres=postgres, internal=urls, **more)
        gateway.connect("ro", urls[0], ["echo", "blob"])
        gateway.connect("rw", urls[1], ["echo"], "mutating", "unattended")
        return gateway


def calls(bench, store, postgres=None):
    """A 64-byte echo over Streamable HTTP with 1, 32 and 256 clients."""
    gateway = bench.gateway(postgres)
    try:
        key, rows = gateway.agent_key(), []
        lanes = bench.lanes() + [
            Lane("read-only", gateway.mcp, "ro__echo", key, gateway.pid),
            Lane("read-only, 2026-07-28", gateway.mcp, "ro__echo", key, gateway.pid, extra=["--modern"]),
            Lane("mutating", gateway.mcp, "rw__echo", key, gateway.pid)]
        for clients in (1, 32, 256):
            seen = interleave(f"{store} calls", lanes, bench.rounds, bench.amount(clients))
            rows.append({"store": store, "clients": clients, "lanes": summary(seen)})
        return {"rows": rows, "fdatasync_ms": fdatasync_ms(gateway.folder.name), "after": gateway.memory()}
    finally:
        gateway.close()


def sizes(bench):
    """Results of 1 KB and 100 KB."""
    gateway = bench.gateway()
    try:
        key, rows = gateway.agent_key(), []
        for size in (1_000, 100_000):
            blob = ["--blob", size]
            lanes = bench.lanes() + [Lane("read-only", gateway.mcp, "ro__blob", key, gateway.pid)]
            for lane in lanes:
                lane.tool = "blob" if lane.tool == "echo" else lane.tool
                lane.extra = blob
            for clients in (1, 32):
                amount = bench.amount(clients)
                if size > 10_000:
                    amount = (clients, amount[1] // 4, amount[2])
                seen = interleave(f"{size // 1000} KB", lanes, bench.rounds, amount)
                rows.append({"bytes": size, "clients": clients, "lanes": summary(seen)})
        return {"rows": rows}
    finally:
        gateway.close()


def tools(bench, many=1000):
    """The same call with 1,000 tools granted beside it."""
    bench.processes.start([tool("echo-http"), MANY], env={**os.environ, "ECHO_TOOLS": str(many - 2)}, **QUIET)
    wait_for_port(MANY)
    url = f"http://127.0.0.1:{MANY}/many"
    gateway = Switchboard(bench.processes, bench.binary, GATEWAY, internal=[url])
    try:
        say(f"  granting {many} tools")
        gateway.connect("many", url, ["echo", "blob", *(f"filler_{i}" for i in range(many - 2))])
        key, rows = gateway.agent_key(), []
        lanes = [Lane("direct", f"http://127.0.0.1:{MANY}/mcp"),
                 Lane("floor", f"http://127.0.0.1:{FLOOR}/mcp", pid=bench.floor.pid),
                 Lane("read-only", gateway.mcp, "many__echo", key, gateway.pid)]
        for clients in (1, 32):
            rows.append({"tools": many, "clients": clients,
                         "lanes": summary(interleave(f"{many} tools", lanes, bench.rounds, bench.amount(clients)))})
        return {"rows": rows, "after": gateway.memory()}
    finally:
        gateway.close()


def stdio(bench):
    """A warm child process against one started per call."""
    echo = str(tool("echo-stdio"))
    once = ['sharing = "per_call"']
    commands = [("warm", [echo], []), ("spawned", [echo], once)]
    published = {name: command for name, command in PUBLISHED.items() if all(Path(part).exists() for part in command[:2])}
    for name, command in published.items():
        commands += [(f"{name}-warm", command, []), (f"{name}-once", command, once)]
    gateway = Switchboard(bench.processes, bench.binary, STDIO, commands=commands)
    try:
        for name in ("warm", "spawned"):
            gateway.grant(name, ["echo"])
        key, rows = gateway.agent_key(), []
        for name in published:
            for sharing in ("warm", "once"):
                gateway.grant(f"{name}-{sharing}", ["echo"])
            slow = Lane(f"{name}, child per call", gateway.mcp, f"{name}-once__echo", key, gateway.pid, extra=[*SAID, "--warm", 1])
            fast = Lane(f"{name}, warm child", gateway.mcp, f"{name}-warm__echo", key, gateway.pid, extra=SAID)
            seen = interleave("stdio", [fast], bench.rounds, bench.amount(1)) | interleave("stdio", [slow], bench.rounds, (1, 10, 20))
            rows.append({"clients": 1, "lanes": summary(seen, direct=None)})
        warm = Lane("warm child", gateway.mcp, "warm__echo", key, gateway.pid)
        spawned = Lane("child per call", gateway.mcp, "spawned__echo", key, gateway.pid)
        for clients in (1, 32):
            fast = interleave("stdio", [warm], bench.rounds, bench.amount(clients))
            slow = interleave("stdio", [spawned], bench.rounds, (clients, 200, 10))
            rows.append({"clients": clients, "lanes": summary({**fast, **slow}, direct=None)})
        return {"rows": rows}
    finally:
        gateway.close()


def slow_commits(bench, milliseconds=5):
    """Mutating calls while every commit takes so much longer: one commit has to serve many."""
    library = slow_disk()
    gateway = bench.gateway(environment={"LD_PRELOAD": str(library), "SLOW_COMMIT_US": str(milliseconds * 1000)})
    try:
        lane = Lane("mutating", gateway.mcp, "rw__echo", gateway.agent_key(), gateway.pid)
        before = gateway.record()
        one = lane.load(32, 4000, 20, ["--warm", 0])
        after = gateway.record()
        acts, commits = (after[name] - before[name] for name in ("intents_total", "intent_commits_total"))
        return {"added_ms": milliseconds, "acts_per_commit": round(acts / max(commits, 1), 1), "calls_per_s": round(one["cps"]),
                "p50_ms": one["p50_ms"], "errors": one["err"]}
    finally:
        gateway.close()


def slow_disk():
    """Builds the library that makes fdatasync and fsync slower."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    library = tool("slow-commit.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, os.path.join(here, "slow-commit.c"), "-ldl"], check=True)
    return library


def decisions(bench):
    """One decision among 500 rules, and a snapshot of 1,000 tools, cold and with unchanged facts: in the process, without calls."""
    command = ["cargo", "run", "--release", "-q", "-p", "switchboard-policy", "--example", "decide_bench", "--", "--json"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {"rows": [json.loads(line) for line in said.splitlines()]}


def idle(bench):
    """Start and memory of a server without connections."""
    gateway = Switchboard(bench.processes, bench.binary, GATEWAY)
    try:
        first = gateway.ready_ms
        gateway.stop()
        gateway.start()
        second = gateway.ready_ms
        time.sleep(1 if bench.options.quick else 10)
        return {"first_ready_ms": first, "second_ready_ms": second, **gateway.memory()}
    finally:
        gateway.close()


def abandoned(bench, sessions=200, rounds=5):
    """Client sessions that are opened, used once and left: what each costs, over HTTP and in front of a child process."""
    found = {}
    echo = str(tool("echo-stdio"))
    url = f"http://127.0.0.1:{ECHO}/ro"
    gateway = Switchboard(bench.processes, bench.binary, GATEWAY, internal=[url], commands=[("warm", [echo], [])])
    try:
        gateway.connect("ro", url, ["echo"])
        gateway.grant("warm", ["echo"])
        for name, exposed in (("HTTP upstream", "ro__echo"), ("stdio upstream", "warm__echo")):
            lane = Lane(name, gateway.mcp, exposed, gateway.agent_key(), gateway.pid)
            lane.load(sessions, sessions, 20, ["--warm", 0, "--leave"])
            before = (memory_mb(gateway.pid), len(tree(gateway.pid)), descriptors(gateway.pid))
            for _ in range(rounds):
                # Each key may have so many sessions; whoever leaves them behind here is another client each time.
                lane.key = gateway.agent_key()
                lane.load(sessions, sessions, 20, ["--warm", 0, "--leave"])
            time.sleep(1)
            after = (memory_mb(gateway.pid), len(tree(gateway.pid)), descriptors(gateway.pid))
            found[name] = {"sessions": sessions * rounds, "kb_each": round((after[0] - before[0]) * 1024 / (sessions * rounds), 1),
                           "processes": after[1] - before[1], "descriptors": after[2] - before[2]}
        return found
    finally:
        gateway.close()


def peers(bench):
    """Other gateways in front of the same echo, where they are installed."""
    rows = []
    for make in PEERS:
        peer = make(bench.processes)
        if peer is None:
            say(f"  {make.__name__} is not installed (bench/peers/install)")
            continue
        gateway = bench.gateway()
        try:
            key = gateway.agent_key()
            before = memory_mb(peer.lane.pid)
            for clients in (1, 32):
                ours = Lane("switchboard", gateway.mcp, "ro__echo", key, gateway.pid)
                slow = (clients, peer.calls[clients] // (4 if bench.options.quick else 1), 8)
                seen = interleave(peer.lane.name, bench.lanes() + [ours], bench.rounds, bench.amount(clients))
                seen |= interleave(peer.lane.name, [peer.lane], min(bench.rounds, 3), slow)
                rows.append({"peer": peer.lane.name, "version": peer.version, "clients": clients, "lanes": summary(seen),
                             "rss_mb": [before, memory_mb(peer.lane.pid)]})
        finally:
            bench.processes.end(peer.child)
            gateway.close()
    return {"rows": rows}
