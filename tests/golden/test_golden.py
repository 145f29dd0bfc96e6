"""Every golden value, computed again."""

from __future__ import annotations

import pytest
import torch
from tests.golden.networks import NETWORKS
from tests.golden.recipes import RECIPES
from tests.golden.values import DTYPES, HERE, VALUES, arrays, load

from foresee.proxies import get

#: parts that no score notes: test_naswot.py and test_dextr_parts.py check them
ELSEWHERE = {"trace", "sum", "modules"}
EVERY = [(network, entry) for network, entries in VALUES.items() for entry in entries]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("network", "entry"), EVERY, ids=["-".join(pair) for pair in EVERY])
def test_value(network, entry, dtype):
    recipe, golden = RECIPES[entry], load(network, getattr(torch, dtype))
    for name in recipe.proxies:
        probe = golden.probe(recipe.batches(golden))
        found = float(get(name, recipe.settings)(probe))
        assert found == pytest.approx(golden.value(entry), rel=golden.tolerance(*recipe.tolerance)), name
        known = {part: value for part, value in golden.parts(entry).items() if part not in ELSEWHERE}
        noted = {part: probe.notes[part] for part in known}
        assert noted == pytest.approx(known, rel=golden.tolerance(*recipe.parts_tolerance)), name


def test_every_recipe_has_a_value_and_every_value_a_recipe():
    assert {entry for _, entry in EVERY} == set(RECIPES)
    assert set(VALUES) == set(NETWORKS)


def test_every_array_is_of_something():
    assert {path.stem for path in HERE.glob("*.npz")} == {*NETWORKS, "common"}
    for name in NETWORKS:
        network = NETWORKS[name]()
        assert len(arrays(name)["weights"]) == sum(p.numel() for p in network.parameters())
        assert all(array.dtype.kind in "fiub" for array in arrays(name).values())  # numbers, no text and no objects


def test_an_unknown_entry_is_an_error_and_no_skip():
    with pytest.raises(KeyError, match="zico_3x3"):
        load("tiny_cnn", torch.float32).value("zico_3x3")
