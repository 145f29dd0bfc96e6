"""What can be foreseen: numbers that tell a network's worth before it is trained.

`score`, `scores` and `rank` are the way in; `Probe` is what a proxy reads; `@proxy` registers a new one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from foresee.proxies.base import Needs, Proxy, Score, get, proxies, proxy
from foresee.proxies.probe import Pass, Probe
from foresee.proxies.score import Ranking, names_of, rank, score, scores

# Every file of this room is imported, so a new proxy is one new file: its decorator registers it.
for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

__all__ = [
    "score",
    "scores",
    "rank",
    "Score",
    "Ranking",
    "Probe",
    "Pass",
    "proxy",
    "Proxy",
    "Needs",
    "proxies",
    "get",
    "names_of",
]
