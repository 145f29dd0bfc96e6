"""A small disk of one's own, seen by this process and its children only: it is gone when they are. Needs root, on Linux."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_NEW_MOUNTS, _REMOUNT, _RECURSIVE, _PRIVATE = 0x00020000, 32, 16384, 1 << 18


def mounted(folder: Path, kibibytes: int) -> bool:
    """Put an empty disk of this size in the place of a folder; False where the system does not allow it."""
    if os.geteuid() != 0:
        return False
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(_NEW_MOUNTS):
        return False
    if system.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None):
        return False
    return not system.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={kibibytes}k".encode())


def resized(folder: Path, kibibytes: int) -> None:
    """Another size for a disk that `mounted` made."""
    system = ctypes.CDLL(None, use_errno=True)
    if system.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _REMOUNT, f"size={kibibytes}k".encode()):
        raise OSError(ctypes.get_errno(), f"{folder}: cannot be resized")
