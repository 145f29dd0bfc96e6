"""Results as matplotlib figures, and what they leave alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import matplotlib
import pytest
from matplotlib.figure import Figure
from tests.report.made_up_bench import made_up_bench, made_up_calibration

from foresee.errors import InputError, UnknownNameError
from foresee.proxies.base import Score
from foresee.scoring.ranking import ranked
from foresee.searchers.run import Run

PNG = b"\x89PNG"


def _shown(made: Any) -> list[str]:
    """The titles of its panels; the figure can be drawn."""
    assert isinstance(made, Figure)
    assert made._repr_png_().startswith(PNG)
    return [axes.get_title(loc="left") for axes in made.axes]


def _ranking(**extra: Score):
    rows = {"a": (3.0, 1e3), "b": (2.0, 5e7), "$x^2$ <b>": (1.0, 7.0)}
    made = {name: {"zico": Score("zico", z, spread=0.1), "params": Score("params", p)} for name, (z, p) in rows.items()}
    made["b"] |= extra
    return ranked(made)


def test_a_run_over_its_candidates_and_against_its_cost(make_record):
    made = Run(make_record(80)).plot()
    assert _shown(made) == ["dextr (higher is better)"] * 2
    assert [axes.get_xlabel() for axes in made.axes] == ["candidate", "params"]
    assert len(made.axes[0].lines[0].get_xdata()) == len(make_record(80).scored)


def test_a_run_without_a_score_has_nothing_to_plot(make_record):
    with pytest.raises(InputError, match="nothing to plot"):
        Run(make_record(20, failures=1.0)).plot()


def test_a_bench_by_proxy_and_one_of_them_against_the_truth():
    bench = made_up_bench(60, 2, ("dextr", "zico", "broken"))
    made = bench.plot()
    assert _shown(made) == ["Spearman with test_acc_cifar10, n = 60", "dextr (higher is better)"]
    names = [label.get_text() for label in made.axes[0].get_yticklabels()]
    assert set(names) == {"dextr", "zico", "broken", "params (baseline)", "macs (baseline)", "random (baseline)"}
    assert names[0] == "dextr"  # best first
    assert [text.get_text() for text in made.axes[0].texts] == ["undefined"]
    assert _shown(bench.plot("zico"))[1] == "zico (higher is better)"
    with pytest.raises(UnknownNameError, match="unknown proxy of this bench 'zicco': did you mean zico"):
        bench.plot("zicco")


def test_a_calibration_has_the_pictures_of_its_report():
    titles = _shown(made_up_calibration().plot())
    assert titles == [
        "test_acc_cifar10, predicted",
        "params in thousands (higher is better)",
        "test_acc_cifar10, predicted",
        "params in millions (higher is better)",
    ]


def test_a_ranking_has_a_panel_for_each_proxy_and_says_what_failed():
    made = _ranking(zico=Score("zico", None, "failed", "no good")).plot()
    assert _shown(made) == ["zico (higher is better)", "params (baseline)"]
    assert [label.get_text() for label in made.axes[0].get_yticklabels()] == ["a", "$x^2$ <b>", "b"]
    assert [text.get_text() for text in made.axes[0].texts] == ["failed"]
    assert made.axes[1].get_xscale() == "log"


def test_matplotlibs_settings_stay_and_do_not_matter(make_record):
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "savefig.facecolor": "black"}):
        before = dict(matplotlib.rcParams)
        mine = Run(make_record(30)).plot()._repr_png_()
        assert dict(matplotlib.rcParams) == before
    assert mine == Run(make_record(30)).plot()._repr_png_()


def test_pyplot_is_not_asked_and_no_result_loads_matplotlib_before_it_is_drawn():
    code = (
        "import sys, foresee as fs; run = fs.search('mlp', 'params', evaluations=4, data='synthetic'); repr(run);"
        "run._repr_html_(); assert 'matplotlib' not in sys.modules; run.plot()._repr_png_();"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
