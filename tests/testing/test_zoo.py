"""The zoo is as hostile as it says, and a few proxies of each family live with all of it; all proxies: `test_proxies.py`."""

from __future__ import annotations

import pytest
import torch

from foresee.errors import UnknownNameError
from foresee.scoring import scores
from foresee.testing import zoo
from foresee.testing.photographs import Photograph
from foresee.testing.samples import random_states

#: residents that change something when they just run
CHANGING = [name for name, maker in zoo.plain.ZOO.items() if maker.__module__ == zoo.changing.__name__]
PROXIES = ["foresee", "naswot", "snip", "synflow", "meco", "macs"]


@pytest.mark.parametrize("name", CHANGING)
def test_run_by_anyone_else_it_leaves_traces(name):
    network, given, states = zoo.made(name), zoo.batch(), random_states()
    before, inputs = Photograph(network), given.parts[0].clone()
    process = torch.get_default_dtype(), torch.is_grad_enabled()
    hooks = dict(torch.nn.modules.module._global_forward_pre_hooks)
    try:
        network.train()(given.parts[0])
        changed = (
            before.differences(Photograph(network)),
            not torch.equal(inputs, given.parts[0]),
            random_states() != states,
            (torch.get_default_dtype(), torch.is_grad_enabled()) != process,
        )
    finally:
        torch.set_default_dtype(process[0])
        torch.set_grad_enabled(process[1])
        torch.nn.modules.module._global_forward_pre_hooks.clear()
        torch.nn.modules.module._global_forward_pre_hooks.update(hooks)
    assert any(changed) or name == "works in place all the way"


@pytest.mark.parametrize("name", zoo.names())
def test_a_few_proxies_together(name):
    network, given, again = zoo.made(name), zoo.batch(), zoo.batch()
    before, states = Photograph(network), random_states()
    found = scores(network, given, PROXIES)
    assert before.differences(Photograph(network)) == []
    assert random_states() == states
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert torch.equal(given.parts[0], again.parts[0])
    assert torch.equal(given.labels, again.labels)
    second = scores(network, given, PROXIES)
    for proxy, one in found.items():
        assert one.value is not None or one.reason, one
        assert (one.value, one.status, one.reason) == (second[proxy].value, second[proxy].status, second[proxy].reason)


def test_residents_are_always_the_same():
    first, second, other = (zoo.made("is frozen", seed).head.weight for seed in (0, 0, 1))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_an_unknown_resident_is_named():
    with pytest.raises(UnknownNameError, match="is frozen"):
        zoo.made("is frozzen")
