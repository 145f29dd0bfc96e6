"""foresee tells which neural network will do best before it is trained, and finds that network.

>>> import foresee as fs
>>> import torch
>>> network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 10))
>>> fs.score(network, torch.randn(8, 3, 8, 8)).ok
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from foresee.lazy import lazily

__version__ = "0.1.0"

#: public name -> where it lives; imported on first use, so that `import foresee` stays light
_HOMES = {
    "Batch": "foresee.batch",
    "Candidate": "foresee.spaces.candidate",
    "Ensemble": "foresee.ensembles.ensemble",
    "EnsembleRun": "foresee.ensembles.finding.result",
    "Explanation": "foresee.insight.explanation",
    "ForeseeError": "foresee.errors",
    "Ranking": "foresee.scoring",
    "Run": "foresee.searchers.run",
    "Score": "foresee.proxies.base",
    "Space": "foresee.spaces.base",
    "Task": "foresee.task",
    "Trained": "foresee.training.trained",
    "build": "foresee.spaces.candidate",
    "compare": "foresee.report.contest",
    "compare_ensembles": "foresee.report.ensembles_compared",
    "defend": "foresee.report.defence",
    "ensemble": "foresee.report.ensemble",
    "explain": "foresee.insight.explaining",
    "export": "foresee.training.export",
    "judge": "foresee.report.judged",
    "load_exported": "foresee.training.export",
    "preset": "foresee.searchers.presets",
    "proxy": "foresee.proxies.base",
    "rank": "foresee.scoring",
    "recipe": "foresee.training.recipe",
    "score": "foresee.scoring",
    "scores": "foresee.scoring",
    "search": "foresee.report.searched",
    "train": "foresee.report.training",
}
_ROOMS = (
    *(
        "benchmarks",
        "budgets",
        "data",
        "ensembles",
        "papers",
        "probes",
        "proxies",
        "recommenders",
        "report",
        "runs",
        "scoring",
        "searchers",
        "spaces",
    ),
    *("statistics", "supernets", "testing", "training"),
)

if TYPE_CHECKING:
    from foresee import (
        benchmarks,
        budgets,
        data,
        ensembles,
        papers,
        probes,
        proxies,
        recommenders,
        report,
        runs,
        scoring,
        searchers,
        spaces,
        statistics,
        supernets,
        testing,
        training,
    )
    from foresee.batch import Batch
    from foresee.ensembles.ensemble import Ensemble
    from foresee.ensembles.finding.result import EnsembleRun
    from foresee.errors import ForeseeError
    from foresee.insight.explaining import explain
    from foresee.insight.explanation import Explanation
    from foresee.proxies.base import Score, proxy
    from foresee.report.contest import compare
    from foresee.report.defence import defend
    from foresee.report.ensemble import ensemble
    from foresee.report.ensembles_compared import compare_ensembles
    from foresee.report.judged import judge
    from foresee.report.searched import search
    from foresee.report.training import train
    from foresee.scoring import Ranking, rank, score, scores
    from foresee.searchers.presets import preset
    from foresee.searchers.run import Run
    from foresee.spaces.base import Space
    from foresee.spaces.candidate import Candidate, build
    from foresee.task import Task
    from foresee.training.export import export, load_exported
    from foresee.training.recipe import recipe
    from foresee.training.trained import Trained

__all__ = [
    "Batch",
    "Candidate",
    "Ensemble",
    "EnsembleRun",
    "Explanation",
    "ForeseeError",
    "Ranking",
    "Run",
    "Score",
    "Space",
    "Task",
    "Trained",
    "__version__",
    "benchmarks",
    "budgets",
    "build",
    "compare",
    "compare_ensembles",
    "data",
    "defend",
    "ensemble",
    "ensembles",
    "explain",
    "export",
    "judge",
    "load_exported",
    "papers",
    "preset",
    "probes",
    "proxies",
    "proxy",
    "rank",
    "recipe",
    "recommenders",
    "report",
    "runs",
    "score",
    "scores",
    "scoring",
    "search",
    "searchers",
    "spaces",
    "statistics",
    "supernets",
    "testing",
    "train",
    "training",
]


_lazy, _ = lazily(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"foresee.{name}") if name in _ROOMS else _lazy(name)


def __dir__() -> list[str]:
    return sorted(__all__)
