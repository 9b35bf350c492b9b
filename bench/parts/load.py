"""Bounded loads, and what is made of their numbers."""
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

from .processes import cpu_seconds, say

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def tool(name):
    return TARGET / "bench" / "release" / name


class Lane:
    """One way from the load to the echo: where to call, as whom, and whose processor time counts."""

    def __init__(self, name, url, tool_="echo", key=None, pid=None, headers=(), extra=()):
        self.name, self.url, self.tool, self.key, self.pid = name, url, tool_, key, pid
        self.headers, self.extra = list(headers), list(extra)

    def load(self, concurrency, calls, seconds, extra=()):
        """One bounded load."""
        command = [tool("mcpload"), self.url, "--c", concurrency, "--n", calls, "--max-s", seconds, "--tool", self.tool]
        for header in self.headers + ([f"Authorization: Bearer {self.key}"] if self.key else []):
            command += ["-H", header]
        command += self.extra + list(extra)
        before = cpu_seconds(self.pid) if self.pid else 0
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds + 120)
        if done.returncode or not done.stdout:
            raise SystemExit(f"{self.name} {self.url}: {done.stderr.strip()}")
        measured = json.loads(done.stdout)
        measured["cpu_us"] = (cpu_seconds(self.pid) - before) / max(measured["ok"], 1) * 1e6 if self.pid else None
        if measured["err"]:
            say(f"  {self.name}: {measured['err']} errors; {done.stderr.strip()[:300]}")
        return measured


def interleave(title, lanes, rounds, load):
    """Loads the lanes one after the other, round by round: what disturbs one disturbs all. `load` is (clients, calls, seconds)."""
    seen = {lane.name: [] for lane in lanes}
    for turn in range(rounds):
        for lane in lanes:
            one = lane.load(*load)
            seen[lane.name].append(one)
            say(f"  {title} · {load[0]} clients · {turn + 1}/{rounds} {lane.name}: {one['cps']:.0f} calls/s, p50 {one['p50_ms']:.3f} ms")
    return seen


def summary(seen, floor="floor", direct="direct"):
    """Medians over the rounds, and ratios of the same round."""
    def middle(name, field):
        return statistics.median(one[field] for one in seen[name])

    rows = {}
    for name in seen:
        row = {
            "p50_ms": round(middle(name, "p50_ms"), 3), "p99_ms": round(middle(name, "p99_ms"), 3),
            "calls_per_s": round(middle(name, "cps")),
            "cpu_us": round(middle(name, "cpu_us")) if seen[name][0]["cpu_us"] is not None else None,
            "errors": sum(one["err"] for one in seen[name])}
        if direct in seen:
            row["added_p50_ms"] = round(row["p50_ms"] - middle(direct, "p50_ms"), 3)
        if floor in seen and name not in (floor, direct):
            least = max(middle(floor, "p50_ms") - middle(direct, "p50_ms"), 0.001)
            row["added_x_floor"] = round(row["added_p50_ms"] / least, 2)
            row["rate_x_floor"] = round(statistics.median(a["cps"] / b["cps"] for a, b in zip(seen[name], seen[floor])), 2)
        rows[name] = row
    return rows


def fdatasync_ms(folder, times=200):
    """The p50 of making 4 KiB durable where the store lies, in the same run."""
    path = Path(folder) / "fdatasync"
    taken = []
    with open(path, "wb") as file:
        for _ in range(times):
            file.write(b"x" * 4096)
            file.flush()
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - begun) * 1000)
    path.unlink()
    return round(statistics.median(taken), 3)
