"""Children of a run: started, measured with everything they started, and ended at its end. Nothing else is touched."""
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


def say(text):
    print(text, file=sys.stderr, flush=True)


def wait_for(url, seconds=60, headers=None):
    """Waits until the URL answers 200; how long that took, in milliseconds."""
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=2) as answer:
                if answer.status == 200:
                    return (time.monotonic() - begun) * 1000
        except OSError:
            time.sleep(0.002)
    raise SystemExit(f"{url} did not answer in {seconds} s")


def wait_for_port(port, seconds=60):
    """Waits until somebody listens on a port of loopback."""
    import socket
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nobody listens on port {port} after {seconds} s")


class Processes:
    """Children of this run, ended at its end."""

    def __init__(self):
        self.children = []

    def start(self, command, **options):
        child = subprocess.Popen([str(part) for part in command], **options)
        self.children.append(child)
        return child

    def end(self, child):
        """Ends a child and then whatever it left behind."""
        family = tree(child.pid)
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(timeout=20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for pid in family[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            self.end(child)


def tree(pid):
    """A process and its descendants."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                todo += [int(child) for child in Path(f"/proc/{one}/task/{thread}/children").read_text().split()]
        except OSError:
            pass
    return found


def cpu_seconds(pid):
    """Processor time of a process and its descendants that are still there."""
    ticks = 0
    for one in tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_mb(pid, field="VmRSS"):
    """Memory of a process and its descendants."""
    kilobytes = 0
    for one in tree(pid):
        try:
            for line in Path(f"/proc/{one}/status").read_text().splitlines():
                if line.startswith(field + ":"):
                    kilobytes += int(line.split()[1])
        except OSError:
            pass
    return round(kilobytes / 1024, 1)


def descriptors(pid):
    """Open files of a process alone."""
    return len(os.listdir(f"/proc/{pid}/fd"))
