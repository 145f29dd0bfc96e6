from __future__ import annotations

import pytest
import torch

from foresee.cli.commands.listings import _short
from foresee.errors import InputError, UnknownNameError
from foresee.proxies import proxies
from foresee.proxies.base import Needs, Score, get, is_baseline, proxy


@pytest.mark.parametrize("name", proxies.names())
def test_every_proxy_declares_itself(name):
    one = proxies[name]
    assert one.name == one.full_name == name
    assert one.paper
    assert one.cost
    assert one.summary.endswith((".", ";")) or ";" in one.summary
    assert ">>>" in one.text
    for variant in one.variants:
        assert get(f"{name}:{variant}").full_name == f"{name}:{variant}"


def test_needs_in_words():
    assert str(Needs(data=False)) == "no data"
    assert str(Needs()) == "1 sample"
    assert str(Needs(labels=True, backward=True, batches=2, batch=128)) == "2 x 128 samples, labels, backward"


def test_scores_in_words_and_merit():
    assert str(Score("p", 1.5)) == "p = 1.5"
    assert str(Score("p", None, "nan", "no reason")) == "p: nan (no reason)"
    assert Score("p", 2.0, direction="lower").merit == -2.0
    assert Score("p", None, "failed").merit == -float("inf")


def test_a_score_is_a_number_where_it_has_one():
    assert float(Score("p", 1.5)) == 1.5
    with pytest.raises(InputError, match=r"no number to give: p: nan \(the value is nan\)"):
        float(Score("p", None, "nan", "the value is nan"))


def test_a_score_is_shown_in_a_line_and_as_a_table():
    assert repr(Score("p", 1.5, parts={"a": 1.0})) == "<Score p = 1.5>"
    assert [Score("p", 1.5).cell, Score("p", 1.5, spread=0.125).cell] == ["1.5", "1.5 ± 0.12"]
    made = Score("p", None, "failed", "<b>no</b>")._repr_html_()
    assert "failed" in made
    assert "&lt;b&gt;no&lt;/b&gt;" in made
    assert "saw 60% of the weights" in Score("p", 1.5, parts={"coverage": 0.6})._repr_html_()


def test_what_every_proxy_has_to_beat():
    assert [name for name in proxies.names() if is_baseline(name)] == ["flops", "macs", "params", "random"]
    assert not is_baseline("a name that nobody registered")


def test_what_a_declaration_must_not_do():
    with pytest.raises(InputError, match="default"):

        @proxy("bad_one", paper="", cost="")
        def bad(probe, *, setting):
            return torch.zeros(())

    with pytest.raises(UnknownNameError, match="setting"):

        @proxy("bad_two", paper="", cost="", variants={"other": {"unknown": 1}})
        def worse(probe, *, setting=1):
            return torch.zeros(())

    assert "bad_one" not in proxies
    assert "bad_two" not in proxies


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("grasp", "Wang et al. 2020"),
        ("fisher", "Turner et al. 2020"),
        ("jacov", "Mellor et al. 2020"),
        ("snip", "Lee et al. 2019"),
        ("synflow", "Tanaka et al. 2020"),
        ("plain", "Mozer and Smolensky 1988"),
        ("sigeo", "Zheng et al. 2023, Eq. 7, Appendix E"),
        ("hnas", "Shu 2022, Eq. 7.7"),
    ],
)
def test_the_year_that_is_listed_is_that_of_the_proxys_own_paper(name, shown):
    assert _short(proxies[name]) == shown
