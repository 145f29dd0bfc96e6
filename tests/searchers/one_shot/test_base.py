"""What one-shot searchers share: settings that are checked, a network that is named, losses that are no numbers."""

from __future__ import annotations

import inspect

import pytest
import torch
from tests.searchers import two_edges
from tests.searchers.one_shot.rivals import SETTINGS, done, problem, searcher

from foresee.errors import DataError, InputError, SearchError, UnknownNameError
from foresee.searchers.base import make, searchers
from foresee.searchers.search import search


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("darts_1st", {"epochs": 0}, "darts_1st.epochs = 0: expected a whole number of at least 1"),
        ("gdas", {"batches": 1.5}, "gdas.batches = 1.5: expected a whole number"),
        ("snas", {"lr": 0}, "snas.lr = 0: expected a number above 0"),
        ("setn", {"momentum": 1}, "setn.momentum = 1: expected a number of at least 0 and below 1"),
        ("rsps", {"draws": "many"}, "rsps.draws = 'many': expected a whole number"),
        ("enas", {"temperature": -1}, "enas.temperature = -1: expected a number above 0"),
        ("darts_2nd", {"arch_lr": float("nan")}, "darts_2nd.arch_lr = nan: expected a number above 0"),
        ("gdas", {"one_shot": 4}, "gdas.one_shot = 4: expected options by name"),
        ("gdas", {"one_shot": {"width": 4}}, r"gdas.one_shot = .*width.*: got an unexpected keyword argument 'width'"),
    ],
)
def test_wrong_settings_are_named(name, said, words):
    with pytest.raises(InputError, match=words):
        searcher(name, said=said)


def test_an_unknown_setting_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown setting of searcher gdas 'epoch': did you mean epochs"):
        make("gdas", problem(), {"epoch": 3})
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        searchers["gdas"](problem(), epoch=3)


def test_defaults_are_those_of_the_class_in_its_signature():
    shown = {name: one.default for name, one in inspect.signature(searchers["pc_darts"]).parameters.items()}
    assert (shown["batch"], shown["lr"], shown["arch_lr"], shown["partial"], shown["epochs"]) == (256, 0.1, 6e-4, 4, 50)
    both = inspect.signature(searchers["setn"]).parameters
    assert {"arch_lr", "draws", "epochs"} <= set(both)


def test_data_without_labels_cannot_train():
    given = [torch.randn(16, 3, 8, 8, generator=torch.Generator().manual_seed(0))]
    with pytest.raises(DataError, match=r"searcher rsps: data .* has no labels to train with"):
        search(
            "nasbench201", "params", "rsps", data=given, outputs=4, space_settings={"channels": 2, "cells": 1},
            searcher_settings=SETTINGS["rsps"],
        )  # fmt: skip


def test_a_loss_that_is_no_number_is_said():
    one = searcher("darts_1st", two_edges.NAME)
    with torch.no_grad():
        next(one.network.parameters()).fill_(float("nan"))
    with pytest.raises(SearchError, match=r"in epoch 1 the loss is no finite number; a smaller darts_1st.lr may help"):
        one.step(0)


def test_an_epoch_is_the_half_unless_it_is_said():
    one = searcher("rsps", two_edges.NAME, said={"batches": None, "batch": 100})
    assert one.length == 50  # of 10,000 samples of synthetic data
    assert searcher("rsps", two_edges.NAME).length == 2


def test_the_next_best_answers_follow_and_then_draws():
    one = searcher("darts_1st", two_edges.NAME, evaluations=9)
    done(one)
    texts = [str(proposal.architecture) for proposal in one.ask(9)]
    assert len(set(texts)) == 9  # all there are
    assert texts[0] == one._outcomes[-1]["architecture"]
    assert one.ask(1) == []
