"""Where tensors live and how many threads compute: said once, for every room."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from foresee.errors import InputError


def usable(device: torch.device | str) -> torch.device:
    """The device, if tensors can be made on it here; otherwise an error that says why."""
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {str(device)!r} cannot be used here: {str(error).splitlines()[0]}") from error


def free_bytes(device: torch.device | str) -> float:
    """Memory that is free on a device; infinite where nobody can say.

    >>> 0 < free_bytes("cpu")
    True
    """
    there = torch.device(device)
    if there.type == "cuda":
        return (
            torch.cuda.mem_get_info(there)[0] + torch.cuda.memory_reserved(there) - torch.cuda.memory_allocated(there)
        )
    if there.type != "cpu":
        return math.inf
    machine = re.search(r"^MemAvailable:\s+(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)
    free = int(machine[1]) * 1024.0 if machine else math.inf
    # A container may allow less than the machine has; what it keeps of files is given up when asked for.
    most, used = (_text(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    files = re.search(r"^file (\d+)", _text("/sys/fs/cgroup/memory.stat"), re.MULTILINE)
    if most.isdigit() and used.isdigit():
        free = min(free, max(0.0, float(most) - float(used) + (float(files[1]) if files else 0.0)))
    return free


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # another system
        return ""


@contextmanager
def one_dnn_kept() -> Iterator[None]:
    """OneDNN is on or off afterwards as it was before.

    On a CPU without bfloat16, torch meets that at its first product in bfloat16 and turns oneDNN off for the whole process,
    so that everything after it is rounded in another way.
    """
    before = torch._C._get_mkldnn_enabled()
    try:
        yield
    finally:
        if torch._C._get_mkldnn_enabled() != before:
            torch._C._set_mkldnn_enabled(before)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many torch threads inside: sums are rounded the same way whatever engine runs them.

    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
