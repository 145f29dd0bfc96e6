"""The truth: tables of measured accuracies, and how well a proxy foresees them.

>>> from foresee.benchmarks import correlate
>>> correlate([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0], bootstrap=100).spearman.value
0.8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use, so that reading a table does not load torch. No file has a public
#: name: importing it would put the file in the place of the function.
_HOMES = {
    "Bench": "foresee.benchmarks.benches",
    "BenchSettings": "foresee.benchmarks.benches",
    "Cache": "foresee.scoring",
    "CalibratedTable": "foresee.benchmarks.calibrated",
    "Calibration": "foresee.benchmarks.calibration",
    "Contest": "foresee.benchmarks.contest",
    "ContestSettings": "foresee.benchmarks.contest",
    "Correlations": "foresee.statistics",
    "Estimate": "foresee.statistics",
    "ScoreMatrix": "foresee.scoring",
    "Table": "foresee.benchmarks.table",
    "Target": "foresee.benchmarks.table",
    "bench": "foresee.benchmarks.benches",
    "calibrate": "foresee.benchmarks.calibration",
    "calibrate_table": "foresee.benchmarks.calibration_table",
    "compare": "foresee.benchmarks.contest",
    "correlate": "foresee.statistics",
    "load": "foresee.benchmarks.formats",
    "open_bench": "foresee.benchmarks.opening",
    "open_calibration": "foresee.benchmarks.opening",
    "open_contest": "foresee.benchmarks.contest.opening",
    "save": "foresee.benchmarks.formats",
    "scored": "foresee.scoring",
}

if TYPE_CHECKING:
    from foresee.benchmarks.benches import Bench, BenchSettings, bench
    from foresee.benchmarks.calibrated import CalibratedTable
    from foresee.benchmarks.calibration import Calibration, calibrate
    from foresee.benchmarks.calibration_table import calibrate_table
    from foresee.benchmarks.contest import Contest, ContestSettings, compare
    from foresee.benchmarks.contest.opening import open_contest
    from foresee.benchmarks.formats import load, save
    from foresee.benchmarks.opening import open_bench, open_calibration
    from foresee.benchmarks.table import Table, Target
    from foresee.scoring.cache import Cache
    from foresee.scoring.many import ScoreMatrix, scored
    from foresee.statistics import Correlations, Estimate, correlate

__all__ = [
    "Bench",
    "BenchSettings",
    "Cache",
    "CalibratedTable",
    "Calibration",
    "Contest",
    "ContestSettings",
    "Correlations",
    "Estimate",
    "ScoreMatrix",
    "Table",
    "Target",
    "bench",
    "calibrate",
    "calibrate_table",
    "compare",
    "correlate",
    "load",
    "open_bench",
    "open_calibration",
    "open_contest",
    "save",
    "scored",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
