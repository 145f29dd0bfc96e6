"""The truth: tables of measured accuracies, and how well a proxy foresees them.

>>> from foresee.benchmarks import correlate
>>> correlate([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0], bootstrap=100).spearman.value
0.8
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

#: public name -> file of this room; imported on first use, so that reading a table does not load torch. No file has a public
#: name: importing it would put the file in the place of the function.
_HOMES = {
    "Bench": "benches",
    "BenchSettings": "benches",
    "Cache": "cache",
    "CalibratedTable": "calibration_table",
    "Calibration": "calibration",
    "Correlations": "statistics",
    "Estimate": "statistics",
    "ScoreMatrix": "scoring",
    "Table": "table",
    "Target": "table",
    "bench": "benches",
    "calibrate": "calibration",
    "calibrate_table": "calibration_table",
    "correlate": "statistics",
    "load": "formats",
    "save": "formats",
    "scored": "scoring",
}

if TYPE_CHECKING:
    from foresee.benchmarks.benches import Bench, BenchSettings, bench
    from foresee.benchmarks.cache import Cache
    from foresee.benchmarks.calibration import Calibration, calibrate
    from foresee.benchmarks.calibration_table import CalibratedTable, calibrate_table
    from foresee.benchmarks.formats import load, save
    from foresee.benchmarks.scoring import ScoreMatrix, scored
    from foresee.benchmarks.statistics import Correlations, Estimate, correlate
    from foresee.benchmarks.table import Table, Target

__all__ = [
    "Bench",
    "BenchSettings",
    "Cache",
    "CalibratedTable",
    "Calibration",
    "Correlations",
    "Estimate",
    "ScoreMatrix",
    "Table",
    "Target",
    "bench",
    "calibrate",
    "calibrate_table",
    "correlate",
    "load",
    "save",
    "scored",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
