"""Judging: networks found and networks by hand on the same folds of the same rows, under the same seeds.

    judged = fs.judge(["found=runs/c/best.json", "deepfm", "trees"], "clicks.npz", folds=5, seeds=5, out="runs/judged")

`contestants` says who takes part, `folds` which rows are learnt from and which are kept for the test, `trial` is one
training, `run` all of them, `result` what they say together.
"""

from __future__ import annotations

from foresee.benchmarks.judging.contestants import Contestant, contestants_of
from foresee.benchmarks.judging.result import Judged, Standing
from foresee.benchmarks.judging.run import judge
from foresee.benchmarks.judging.trial import Verdict

__all__ = ["Contestant", "Judged", "Standing", "Verdict", "contestants_of", "judge"]
