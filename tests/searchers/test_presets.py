"""The papers' searches as presets: whole, true to the papers' numbers, and runnable."""

from __future__ import annotations

import pytest

import foresee as fs
from foresee.proxies import get as get_proxy
from foresee.registry import check_settings
from foresee.runs.toml import dumps
from foresee.searchers import SearchSettings, searchers
from foresee.searchers.presets import names, preset
from foresee.spaces import spaces


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", names())
def test_every_preset_is_a_search_that_exists(name, full):
    one = preset(name)
    settings = one.settings(full=full)
    kind = searchers[settings.searcher]
    check_settings(f"searcher {kind.name}", kind, settings.searcher_settings)
    space = spaces[settings.space]
    check_settings(f"space {settings.space}", space, settings.space_settings)
    assert kind.fits(space) == ""
    assert all(get_proxy(proxy) for proxy in settings.scoring.proxies)
    assert SearchSettings.from_json(settings.to_json()) == settings
    assert all((one.paper, one.section, one.summary, one.did))
    assert dumps(one.search)


@pytest.mark.parametrize("name", names())
def test_the_published_search_is_the_larger_one(name):
    counts = preset(name).counts
    assert counts
    assert all(isinstance(theirs, str) or theirs > ours for _, ours, theirs in counts), counts


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dextr-autoformer-tiny", {"evaluations": 1000, "limits.params.max": 6_000_000, "searcher": "random"}),
        ("dextr-autoformer-small", {"evaluations": 1000, "limits.params.max": 24_000_000, "proxies": ["dextr"]}),
        ("dextr-mobilenet", {"population": 1024, "evaluations": 100_000, "limits.macs.max": 450_000_000}),
        ("sigeo-resnet", {"population": 512, "evaluations": 480_000, "limits.params.max": 1_000_000, "batch_size": 64}),
        ("dextr-darts", {"channels": 16, "layers": 8, "pool_size": 10, "validation": 100, "proxies": ["dextr"]}),
        ("zico-darts", {"proxies": ["zico"], "searcher": "zero_cost_pt"}),
        ("meco-darts", {"proxies": ["meco"], "searcher": "zero_cost_pt"}),
        ("nasi-fix-darts", {"steps": 100, "batch": 64, "mu": 2, "nu": 100, "constraint": "fixed"}),
        ("nasi-ada-darts", {"steps": 100, "batch": 64, "mu": 2, "nu": 500, "constraint": "adaptive"}),
        ("nasi-nasbench201", {"steps": 100, "batch": 64, "mu": 1, "nu": 1000, "constraint": "adaptive"}),
        ("sigeo-nasrec-small", {"population": 128, "sample": 64, "children": 8, "evaluations": 2048, "warmup": "1%"}),
        ("sigeo-nasrec-full", {"blocks": 7, "batch_size": 512, "proxies": ["sigeo:ctr"], "space": "nasrec_full"}),
        ("zico-nasrec-small", {"proxy_settings.sigeo.lambda2": 0.0, "proxies": ["sigeo"], "evaluations": 2048}),
        ("nasrecnet-full", {"measure": "last_layer", "measure_steps": 500, "measure_recipe": "nasrec_supernet"}),
        ("random-nasrec-full", {"measure": "trained", "searcher": "random"}),
        ("hnas-nasbench201", {"pool": 2000, "evaluations": 20, "objectives": ["measured"]}),
    ],
)
def test_in_full_they_have_the_papers_numbers(name, said):
    from foresee.searchers.presets import flat

    found = flat(preset(name).plain(full=True))
    assert {key: found[key] for key in said} == said


def test_names_are_found_in_either_spelling_and_the_nearest_is_said():
    assert preset("dextr_autoformer_tiny") == preset("dextr-autoformer-tiny")
    with pytest.raises(
        fs.ForeseeError, match="unknown preset 'dextr-autoformer-tiy': did you mean dextr-autoformer-tiny"
    ):
        preset("dextr-autoformer-tiy")


def test_what_is_given_wins_and_tables_are_added_to():
    one = preset("nasi-fix-darts")
    settings = one.settings(searcher_settings={"steps": 3}, seed=7)
    assert dict(settings.searcher_settings) == {**one.search["searcher_settings"], "steps": 3}
    assert settings.scoring.seed == 7
    assert one.settings(full=True, evaluations=2).evaluations == 2
    assert preset("hnas-nasbench201").needs
    assert not one.needs


def test_a_preset_is_run_and_reported(tmp_path):
    run = fs.preset("dextr-autoformer-tiny").run(
        out=str(tmp_path), proxies=["params"], evaluations=3, data="synthetic", seed=2
    )
    assert run.status == "finished"
    assert (tmp_path / "report.html").exists()
    assert all(row.counts["params"] <= 6_000_000 for row in run.record.candidates)
    with pytest.raises(fs.ForeseeError, match="unknown setting in preset dextr-autoformer-tiny 'colour'"):
        fs.preset("dextr-autoformer-tiny").run(colour="red")


def test_a_preset_may_train_the_foremost():
    one = fs.preset("sigeo-nasrec-small")
    assert one.training() == (3, "ctr_small")
    assert one.training(full=True) == (15, "ctr")
    assert ("train_best", 3, 15) in one.counts
    assert fs.preset("dextr-darts").training() == (0, "fast")
    tiny = {"space_settings": {"blocks": 2, "dense_widths": [16], "sparse_widths": [16]}, "evaluations": 2}
    tiny |= {"searcher_settings": {"population": 2, "sample": 1}, "proxies": ["params"]}
    tiny |= {"warmup": "0%"}
    run = one.run(train_best=1, **tiny)
    assert run.trained.best.trained.validation.auc is not None
    assert one.run(train_best=0, **tiny).trained is None
