from __future__ import annotations

import pytest

from foresee.cli.options import SortedSettings, sort_settings
from foresee.errors import InputError, UnknownNameError

PAIRS = ["space.channels=4", "nasbench201.cells=1", "evolution.population=8", "grad-norm.initialise=he"]


def test_each_goes_to_whom_it_is_for():
    found = sort_settings(PAIRS, space="nasbench201", searcher="evolution", proxies=["grad_norm"])
    assert found == SortedSettings({"channels": 4, "cells": 1}, {"population": 8}, {"grad_norm": {"initialise": "he"}})


def test_a_space_may_be_written_with_hyphens_or_be_ones_own():
    assert sort_settings(["nasrec-small.blocks=2"], space="nasrec-small", proxies=[]).space == {"blocks": 2}
    assert sort_settings(["space.width=2"], space="mine.nets:make", proxies=[]).space == {"width": 2}


def test_a_stranger_is_named_with_those_who_are_there():
    with pytest.raises(UnknownNameError, match="name in --set 'evoluton': did you mean evolution"):
        sort_settings(["evoluton.population=8"], space="nasbench201", searcher="evolution", proxies=["dextr"])
    with pytest.raises(UnknownNameError, match="there are dextr, nasbench201, space"):
        sort_settings(["x.y=1"], space="nasbench201", proxies=["dextr"])
    with pytest.raises(InputError, match=r"expected name\.key=value"):
        sort_settings(["population=8"], space="nasbench201", proxies=[])
