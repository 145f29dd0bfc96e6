"""Conformance suites for authors of plug-ins: subclass one, say what is tested, run pytest."""

from __future__ import annotations

from foresee.testing.data import DataSuite
from foresee.testing.proxies import ProxySuite
from foresee.testing.spaces import SpaceSuite

__all__ = ["SpaceSuite", "ProxySuite", "DataSuite"]
