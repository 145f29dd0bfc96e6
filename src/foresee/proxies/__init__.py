"""What can be foreseen: numbers that tell a network's worth before it is trained. Formulas only.

`Probe` is what a proxy reads; `@proxy` registers a new one. `foresee.score`, `scores` and `rank` are the way in.
"""

from __future__ import annotations

from foresee.probes.probe import Pass, Probe
from foresee.proxies.base import Needs, Proxy, Score, get, names_of, proxies, proxy

__all__ = [
    "Score",
    "Probe",
    "Pass",
    "proxy",
    "Proxy",
    "Needs",
    "proxies",
    "get",
    "names_of",
]
