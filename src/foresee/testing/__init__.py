"""Conformance suites for authors of plug-ins: subclass one, say what is tested, run pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: suite -> where it lives; imported on first use: the workers of an engine under test import this room, and need no torch
_HOMES = {
    "DataSuite": "foresee.testing.data",
    "EngineSuite": "foresee.testing.engines",
    "ProxySuite": "foresee.testing.proxies",
    "SearcherSuite": "foresee.testing.searchers",
    "SpaceSuite": "foresee.testing.spaces",
    "StoreSuite": "foresee.testing.stores",
}

if TYPE_CHECKING:
    from foresee.testing.data import DataSuite
    from foresee.testing.engines import EngineSuite
    from foresee.testing.proxies import ProxySuite
    from foresee.testing.searchers import SearcherSuite
    from foresee.testing.spaces import SpaceSuite
    from foresee.testing.stores import StoreSuite

__all__ = ["DataSuite", "EngineSuite", "ProxySuite", "SearcherSuite", "SpaceSuite", "StoreSuite"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
