"""Bench: sample a table, score the sample, and see how well each proxy foresees the measured numbers.

    found = bench("nb201.csv.gz", "test_acc_cifar10", ["dextr"], sample=1000, out="runs/b")
    found.correlations["dextr"].spearman        # with a 95 % interval; "params", "macs" and "random" are always there

`settings` is what was asked, `run` does it, `result` is what was found and the files it is kept in.
"""

from foresee.benchmarks.benches.result import Bench
from foresee.benchmarks.benches.run import bench, sampled
from foresee.benchmarks.benches.settings import BASELINES, BenchSettings

__all__ = ["BASELINES", "Bench", "BenchSettings", "bench", "sampled"]
