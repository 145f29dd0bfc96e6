"""Where a run happened: versions, system, processor."""

from __future__ import annotations

import os
import platform
from typing import Any


def environment(**more: Any) -> dict[str, Any]:
    """Facts to store with a run; no names of users or machines."""
    return {
        "foresee": installed("foresee"),
        "python": platform.python_version(),
        "torch": installed("torch"),
        "numpy": installed("numpy"),
        "system": f"{platform.system()} {platform.release()}",
        "processor": f"{platform.machine()}, {os.cpu_count()} cores",
        **more,
    }


def installed(package: str) -> str:
    """The version of an installed package, or "not installed"."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
