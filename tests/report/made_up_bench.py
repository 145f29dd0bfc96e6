"""A bench and a calibration that never happened, with plausible numbers; `text` is put wherever they hold text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.benchmarks.small import small_table

from foresee.benchmarks import CalibratedTable, ScoreMatrix, calibrate_table, correlate
from foresee.benchmarks.benches import BASELINES, Bench, BenchSettings
from foresee.scoring import ScoringSettings

LONG = "a_proxy_with_a_name_that_somebody_chose_to_make_very_long_indeed"


def made_up_bench(n: int, repeats: int, proxies: tuple[str, ...], text: str = "") -> Bench:
    """Proxies one worse than the other; the second fails now and then, and the last of several on everything."""
    rng = np.random.default_rng(1)
    truth = 94 - rng.gamma(1.2, 3, size=n)
    truth[0] = 10.0  # a network that never learned
    names = [*proxies, *BASELINES]
    matrices = {}
    for place, name in enumerate(names):
        values = (truth + rng.normal(0, 1 + place, size=n))[:, None] + rng.normal(0, 0.5, size=(n, repeats))
        bad = rng.random(values.shape) < (0.3 if place == 1 else 0)
        bad |= len(proxies) > 2 and name == proxies[-1]
        reasons = Counter({f"nan: the features are not finite {text}": int(bad.sum())}) if bad.any() else Counter()
        values, statuses = np.where(bad, np.nan, values), np.where(bad, "nan", "ok")
        matrices[name] = ScoreMatrix(name, "higher", values, statuses, np.full(values.shape, 0.3), reasons)
    target = f"test_acc_cifar10{text}"
    settings = BenchSettings(
        f"nasbench201{text}",
        f"data/{text}.csv",
        "ab" * 32,
        target,
        ScoringSettings(tuple(names), repeats=repeats, inputs=(3, 32, 32), outputs=10),
    )
    return Bench(
        settings,
        [f"|nor_conv_3x3~0|+|none~0|nor_conv_1x1~1|+|none~0|avg_pool_3x3~1|skip_connect~2|{text}{i}" for i in range(n)],
        truth,
        "higher",
        15_625,
        matrices,
        {name: correlate(matrix.merit, truth, bootstrap=50) for name, matrix in matrices.items()},
        f"cifar10 at 3x32x32{text}",
        (f"a note {text}",),
        {"foresee": "0.1.0", "task": text},
        Path("runs/b"),
    )


def made_up_calibration(text: str = "") -> CalibratedTable:
    """Twelve trained cells of forty, with the counts of their networks as proxies."""
    found = calibrate_table(
        small_table(),
        "test_acc_cifar10",
        proxies=["params", "macs"],
        untrained="params",
        trained=12,
        data="synthetic",
        bootstrap=20,
    )
    if not text:
        return found
    return replace(
        found,
        texts=[text + one for one in found.texts],
        untrained=text,
        space=text,
        target=replace(found.target, name=text),
        settings={**found.settings, "table": text, "data": text},
        environment={text: text},
        reasons={"macs": {text: 3}},
        calibration=replace(found.calibration, failed={"macs": 3}),
    )
