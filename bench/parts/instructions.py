"""Instructions of one call, counted by callgrind: the same on a busy machine as on an idle one, so that a regression shows without a clock.

Compared with bench/instructions.json; more than a tenth above it fails the run. After a change that is worth its instructions, write the new
counts there. Valgrind shows the program a processor without SHA instructions, so hashing counts for more here than it costs.
"""
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .load import ROOT, Lane
from .processes import say

KEPT = ROOT / "bench" / "instructions.json"
TOLERANCE = 1.1
CALLS, CLIENTS = 1500, 8


def count(bench):
    """Counts for a call that only reads and for one that may change something; none where valgrind is not installed."""
    if not shutil.which("callgrind_control"):
        say("  valgrind is not installed")
        return None
    found = {name: one(bench, tool) for name, tool in (("read-only", "ro__echo"), ("mutating", "rw__echo"))}
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, instructions in found.items():
        say(f"  {name}: {instructions} instructions a call, {kept.get(name, 'nothing')} kept")
    worse = [name for name, instructions in found.items() if instructions > kept.get(name, instructions) * TOLERANCE]
    return {"rows": [{"what": name, "instructions": instructions, "kept": kept.get(name)} for name, instructions in found.items()],
            "worse": worse}


def one(bench, tool):
    with tempfile.TemporaryDirectory(prefix="switchboard-callgrind-") as folder:
        out, wrapper = Path(folder) / "out", Path(folder) / "switchboard"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind --quiet --tool=callgrind --instr-atstart=no --callgrind-out-file={out} {bench.binary} \"$@\"\n")
        wrapper.chmod(0o755)
        gateway = bench.gateway(binary=wrapper)
        try:
            lane = Lane("counted", gateway.mcp, tool, gateway.agent_key(), gateway.pid)
            lane.load(CLIENTS, 300, 60)
            switch("on", gateway.pid)
            done = lane.load(CLIENTS, CALLS, 120, ["--warm", 0])
            # The chain of the record follows within a second and belongs to the call.
            time.sleep(2)
            switch("off", gateway.pid)
        finally:
            gateway.close()
        totals = re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE)
        return round(int(totals.group(1)) / done["ok"])


def switch(way, pid):
    subprocess.run(["callgrind_control", "-i", way, str(pid)], check=True, stdout=subprocess.DEVNULL)
