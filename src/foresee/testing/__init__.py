"""Conformance suites for authors of plug-ins: subclass one, say what is tested, run pytest."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foresee.testing.engines import EngineSuite
    from foresee.testing.proxies import ProxySuite
    from foresee.testing.spaces import SpaceSuite
    from foresee.testing.stores import StoreSuite

#: suite -> where it lives; imported on first use: the workers of an engine under test import this room, and need no torch
_HOMES = {
    "EngineSuite": "foresee.testing.engines",
    "ProxySuite": "foresee.testing.proxies",
    "SpaceSuite": "foresee.testing.spaces",
    "StoreSuite": "foresee.testing.stores",
}

__all__ = ["EngineSuite", "ProxySuite", "SpaceSuite", "StoreSuite"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'foresee.testing' has no attribute {name!r}")
