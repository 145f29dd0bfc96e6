"""Processes from the outside: who descends from whom, who is still there, which signals are awaited. Linux only."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def become_reaper() -> None:
    """From now on, descendants that lose their parent become children of this process: none gets out of sight."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Children, their children, and so on, that are alive: those that ended and only wait to be asked are left out."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) and fields[0] not in ("Z", "X"):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return sorted(found)


def left_behind(pid: int, patience: float) -> list[int]:
    """The descendants that are still there after `patience` seconds; an empty list as soon as none is."""
    deadline = time.monotonic() + patience
    while (found := descendants(pid)) and time.monotonic() < deadline:
        _forget_ended(pid)
        time.sleep(0.02)
    return found


def end_all(pid: int) -> None:
    """Kill every descendant, also those that are started meanwhile, and forget them."""
    for _ in range(100):
        found = descendants(pid)
        for one in found:
            send(one, signal.SIGKILL)
        _forget_ended(pid)
        if not found:
            return
        time.sleep(0.01)


def send(pid: int, what: signal.Signals) -> bool:
    """Send a signal; whether there was anybody to get it."""
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        return False
    return True


def catches(pid: int, what: signal.Signals) -> bool:
    """Whether a process has a handler of its own for a signal, as the system knows it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")), 0)
    return bool(caught >> (what - 1) & 1)


def command_line(pid: int) -> str:
    """What a process was started as, for messages."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "(ended)"


def _stat(pid: int) -> list[str] | None:
    try:
        # after the name, which stands in brackets and may hold anything: state, parent, ...
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _forget_ended(pid: int) -> None:
    """Ask for the orphans that came to us and ended, where `pid` are we; another's children are its own affair."""
    if pid != os.getpid():
        return
    for entry in Path("/proc").iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdigit() else None
        if fields and fields[0] == "Z" and int(fields[1]) == pid:
            try:
                os.waitid(os.P_PID, int(entry.name), os.WEXITED | os.WNOHANG)
            except ChildProcessError:
                continue
