"""The workshop: tables found by content, scores as a direct look gives them, numbers as scipy gives them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.papers.made_up import SIZES, TRUTH, shop

from foresee.benchmarks.tasks import NETWORKS
from foresee.errors import RunError, UnknownNameError
from foresee.papers.asked import Asked, Measured
from foresee.papers.cells import Unavailable
from foresee.papers.samples import BENCHMARKS
from foresee.papers.workshop import Workshop
from foresee.scoring import Job, Scorer, ScoringSettings

OPS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")


def test_tables_are_found_by_content(tables):
    workshop = shop(tables, sample=0)
    sample = workshop.sampled("nats-sss-cifar10")
    assert len(sample) == 5, "the fullest table"
    assert dict(zip(sample.texts, sample.truth, strict=True)) == dict(zip(SIZES, TRUTH, strict=True))
    assert workshop.notes == ["nats-sss-cifar10: accuracies are val_acc_cifar10; no table at hand has test_acc_cifar10"]
    with pytest.raises(Unavailable, match="no table of nats_size with test_acc_cifar100 or val_acc_cifar100"):
        workshop.sampled("nats-sss-cifar100")
    with pytest.raises(Unavailable, match="no table of nasbench101"):
        workshop.sampled("nasbench101")
    with pytest.raises(UnknownNameError, match="nasbench101"):
        workshop.sampled("nasbench-101")


def test_no_tables_at_all(tmp_path):
    with pytest.raises(Unavailable, match="--tables"):
        Workshop().sampled("nasbench101")
    with pytest.raises(Unavailable, match="no table in"):
        Workshop(tables=tmp_path).sampled("nasbench101")


def test_a_sample_is_the_beginning_of_the_larger_one(tables):
    everyone = shop(tables, sample=0).sampled("nats-sss-cifar10")
    assert shop(tables, sample=2).sampled("nats-sss-cifar10").texts == everyone.texts[:2]
    assert len(shop(tables, sample=None).sampled("nats-sss-cifar10", size=3)) == 3
    assert len(shop(tables, sample=None).sampled("nats-sss-cifar10")) == 5
    assert len(shop(tables, sample=4).sampled("nats-sss-cifar10", size=3)) == 4
    assert len(shop(tables, sample=2).sampled("nats-sss-cifar10", size=3)) == 2
    assert len(shop(tables, sample=2).sampled("nats-sss-cifar10", everyone=True)) == 5
    assert shop(tables, sample=0, seed=1).sampled("nats-sss-cifar10").texts != everyone.texts
    part = everyone.subset([3, 0])
    assert part.texts == [everyone.texts[3], everyone.texts[0]]
    assert part.truth.tolist() == [everyone.truth[3], everyone.truth[0]]


def test_every_benchmark_has_networks():
    for about in BENCHMARKS.values():
        assert about.task in NETWORKS[about.space]


def test_scores_are_those_of_a_direct_look(tables):
    workshop = shop(tables, sample=2, repeats=2, seed=3)
    sample = workshop.sampled("nats-sss-cifar10")
    asked = {
        "norm": Asked("grad_norm", batch_size=4),
        "half": Asked("meco_opt", {"channels": 4}),
        "whole": Asked("meco_opt", {"channels": 8}),
    }
    found = workshop.measure(sample, asked)
    assert list(found) == list(asked)
    for name, one in asked.items():
        assert found[name].values.shape == (2, 2)
        for repeat in range(2):
            settings = ScoringSettings(
                proxies=(one.proxy,),
                proxy_settings={one.proxy: one.settings},
                data="synthetic",
                inputs=(3, 32, 32),
                outputs=10,
                seed=3 + repeat,
                batch_size=one.batch_size,
            )
            job = Job(tuple(sample.texts), (one.proxy,), 3 + repeat)
            by_hand = [found_one.scores[0].value for found_one in Scorer("nats_size", settings)(job)]
            assert found[name].values[repeat] == pytest.approx(by_hand, rel=1e-12)
    assert not np.allclose(found["half"].values, found["whole"].values)


def test_a_quick_look_is_said(tables):
    workshop = shop(tables, batch_size=2, data=None)
    sample = workshop.sampled("nats-sss-cifar10", size=1)
    workshop.measure(sample, {"norm": Asked("grad_norm"), "one": Asked("meco")})
    assert "batches of at most 2 samples, where the paper takes more" in workshop.notes
    assert any("embedded digits" in note for note in workshop.notes)
    assert workshop.settings()["batch_size"] == 2


def test_other_networks_are_said(tables):
    cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|"
    other = cell.replace("1x1", "3x3")
    (tables / "cells.csv").write_text(f"index,arch_str,test_acc_cifar10\n0,{cell},90\n1,{other},91\n")
    workshop = shop(tables, space_settings={"nasbench201": {"channels": 4}})
    sample = workshop.sampled("nasbench201-cifar10")
    own = shop(tables).measure(sample, {"params": Asked("params")})["params"].values
    papers = Asked("params", space_settings={"variant": "reference"})
    found = workshop.measure(sample, {"thin": Asked("params"), "all operations": papers})
    assert (found["thin"].values < found["all operations"].values).all()
    assert (found["all operations"].values < own).all()
    assert workshop.notes == ["nasbench201: other networks than the paper's, with channels = 4"]


def test_correlation_is_the_mean_over_repeats_with_failures_last():
    values = np.array([[1.0, 5.0, np.nan, 3.0, 2.0], [2.0, 1.0, 4.0, 3.0, 5.0]])
    truth = np.array([1.0, 5.0, 2.0, 4.0, 3.0])
    measured = Measured(values, "higher", {"nan: flat": 1})
    workshop = Workshop(bootstrap=50)
    ranked = np.where(np.isnan(values), -100, values)
    for coefficient, by_scipy in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        found = workshop.correlation(measured, truth, coefficient)
        assert found.value == pytest.approx(np.mean([by_scipy(row, truth).statistic for row in ranked]))
        assert found.n == 5
        assert found.low <= found.value <= found.high
    valid = ~np.isnan(values[0])
    pearson = [stats.pearsonr(values[0][valid], truth[valid])[0], stats.pearsonr(values[1], truth)[0]]
    assert workshop.correlation(measured, truth, "pearson").value == pytest.approx(np.mean(pearson))
    assert measured.words == "1 of 5 without a value, ranked last (nan: flat)"
    lower = Measured(values, "lower")
    ranked = np.where(np.isnan(values), -100, -values)
    assert workshop.correlation(lower, truth).value == pytest.approx(
        np.mean([stats.spearmanr(row, truth).statistic for row in ranked])
    )


def test_a_constant_proxy_has_an_empty_cell():
    cell = Workshop(bootstrap=10).cell("row", "column", Measured(np.ones((1, 4))), np.arange(4.0))
    assert cell.estimate is None
    assert "same" in cell.reason


def test_mean_has_a_bootstrap_interval():
    values = np.random.default_rng(0).normal(3, 1, 200)
    found = Workshop(bootstrap=2000).mean(values)
    exact = stats.bootstrap((values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(1))
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx(tuple(exact.confidence_interval), abs=0.02)


def test_what_else_is_known_of_a_cell(tables):
    cells = [
        f"|nor_conv_{size}x{size}~0|+|none~0|skip_connect~1|+|none~0|{op}~1|nor_conv_1x1~2|"
        for size in (1, 3)
        for op in ("none", "skip_connect")
    ]
    columns = zip(cells, (4.0, 1.0, "", 3.0), (90, 80, 70, 85), (10, 30, 40, 20), strict=True)
    rows = [f"{place},{','.join(map(str, row))}" for place, row in enumerate(columns)]
    heading = "index,arch_str,nwot,test_acc_cifar10,val_acc_cifar10"
    (tables / "suite.csv").write_text("\n".join([heading, *rows]) + "\n")
    workshop = shop(tables)
    sample = workshop.sampled("nasbench201-cifar10")
    measured = Measured(sample.truth[None])
    words = workshop.context(sample, Asked("naswot"), measured, "spearman")
    assert words == "-1.00 with val_acc_cifar10; 1.00 by the values in the table, n = 3"
    assert workshop.context(sample, Asked("dextr:reference"), measured, "spearman") == "-1.00 with val_acc_cifar10"
    assert workshop.sampled("nasbench201-cifar10", targets=["val_acc_cifar10"]).target == "val_acc_cifar10"


def test_between_two_proxies_that_others_computed(tables):
    cells = [f"|nor_conv_1x1~0|+|none~0|skip_connect~1|+|none~0|{op}~1|nor_conv_1x1~2|" for op in OPS]
    snip, grasp = (1.0, 2.0, 3.0, "", 5.0), (-1.0, 3.0, -2.0, 4.0, 9.0)
    rows = [f"{place},{cell},{snip[place]},{grasp[place]},{90 + place}" for place, cell in enumerate(cells)]
    (tables / "suite.csv").write_text("\n".join(["index,arch_str,snip,grasp,test_acc_cifar10", *rows]) + "\n")
    workshop = shop(tables)
    sample = workshop.sampled("nasbench201-cifar10")
    with_sign = stats.pearsonr([1, 2, 3, 5], [-1, 3, -2, 9]).statistic
    without = stats.pearsonr([1, 2, 3, 5], [1, 3, 2, 9]).statistic
    assert workshop.by_others(sample, ["snip", "grasp"], "pearson").startswith(f"{with_sign:.2f} by the values")
    words = workshop.by_others(sample, ["snip", "grasp"], "pearson", unsigned=["grasp"])
    assert words == f"{without:.2f} by the values in the table, n = 4"
    assert workshop.by_others(sample, ["snip", "m_trace"], "pearson") == ""


def test_benchmarks_that_were_not_asked_for(tables):
    with pytest.raises(Unavailable, match="--benchmark"):
        shop(tables, benchmarks=["nats-sss-cifar10"]).sampled("nasbench201-cifar10")
    with pytest.raises(UnknownNameError, match="nasbench101"):
        shop(tables, benchmarks=["nasbench-101"])


def double(evaluation, text, factor):
    if text == SIZES[1] and factor == 0:
        raise ValueError("cannot look")
    return factor * len(text) + evaluation.task.outputs


def test_each_keeps_the_order_and_says_what_failed(tables):
    workshop = shop(tables, sample=0)
    sample = workshop.sampled("nats-sss-cifar10")
    assert workshop.each(sample, double, factor=2) == [2 * len(text) + 10 for text in sample.texts]
    with pytest.raises(RunError, match="cannot look"):
        workshop.each(sample, double, factor=0)
