"""Second-order Taylor expansion of any network along a curve: value, velocity and acceleration of all outputs at once."""

from __future__ import annotations

from foresee.probes.jets.curves import Method, curvature, taylor

__all__ = ["taylor", "curvature", "Method"]
