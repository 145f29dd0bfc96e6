from __future__ import annotations

import contextlib
import random
from operator import is_

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from foresee.errors import UnsupportedError
from foresee.probes.state import converted, copy_buffers, uncompiled, untouched, use_batch_statistics


class Counting(nn.Module):
    """Changes about everything a module can change while it runs."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
        self.register_buffer("table", torch.zeros(2))
        self.calls, self.seen, self.notes = 0, [], {}

    def forward(self, x):
        self.calls += 1
        self.seen.append(x)
        self.notes["last"] = x
        self.extra = x
        self.table = self.table + 1
        return self.inner(x)


def snapshot(network):
    """All that must not change, as plain values."""
    modules = dict(network.named_modules())
    return {
        "tensors": {k: (v.clone(), id(v)) for k, v in network.state_dict(keep_vars=True).items()},
        "grads": {k: None if p.grad is None else (p.grad.clone(), id(p.grad)) for k, p in network.named_parameters()},
        "requires_grad": {k: p.requires_grad for k, p in network.named_parameters()},
        "training": {k: m.training for k, m in modules.items()},
        "attributes": {k: list(vars(m)) for k, m in modules.items()},
        "hooks": {
            k: [list(getattr(m, h)) for h in vars(m) if "hooks" in h and isinstance(getattr(m, h), dict)]
            for k, m in modules.items()
        },
        "random": (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()),  # noqa: NPY002
    }


def same(first, second):
    for part in first.keys() - {"tensors", "grads"}:
        assert first[part] == second[part], part
    for part in ("tensors", "grads"):
        for key, before in first[part].items():
            after = second[part][key]
            assert (before is None) == (after is None), key
            if before is not None:
                assert torch.equal(before[0], after[0]), key
                assert before[1] == after[1], key


def ruin(network):
    random.random()
    np.random.random_sample()  # noqa: NPY002
    torch.rand(1)
    network.train()
    network(torch.randn(4, 3)).sum().backward()
    network.eval()
    network.inner[0].weight.data.mul_(2)  # a write that no version counts
    with torch.no_grad():
        network.inner[0].bias.add_(1)
    network.inner[0].weight.requires_grad_(False)
    network.inner[0].register_forward_hook(lambda *_: None)
    network.inner[1].register_full_backward_hook(lambda *_: None)
    network.inner[0].weight.grad = torch.ones(3, 3)
    network.inner[0].bias = nn.Parameter(torch.zeros(3))
    network.inner.add_module("more", nn.Identity())
    network.forward = lambda x: x
    register_module_forward_hook(lambda *_: None)


@pytest.mark.parametrize("raising", [False, True])
@pytest.mark.parametrize("with_grad", [False, True])
def test_untouched_restores_everything(raising, with_grad):
    network = Counting()
    network.inner[1].eval()
    network.inner[0].weight.requires_grad_(not with_grad)
    if with_grad:
        network.inner[0].bias.grad = torch.full((3,), 7.0)
    from torch.nn.modules import module as every

    hooks = len(every._global_forward_hooks)
    before = snapshot(network)
    with contextlib.suppress(KeyError), untouched(network, 3):
        ruin(network)
        if raising:
            raise KeyError
    same(before, snapshot(network))
    assert len(every._global_forward_hooks) == hooks
    assert network.calls == 0
    assert network.seen == []
    assert network.notes == {}
    assert not hasattr(network, "extra")
    assert "forward" not in vars(network)


def test_a_write_through_data_is_found_and_the_grad_values_too():
    layer = nn.Linear(2, 2)
    layer.weight.grad = torch.ones(2, 2)
    kept = layer.weight.grad
    with untouched(layer):
        layer.weight.grad.add_(5)
    assert layer.weight.grad is kept
    assert torch.equal(kept, torch.ones(2, 2))


@given(seed=st.integers(0, 2**62))
@examples(10)
def test_inside_the_seed_decides(seed):
    drawn = []
    for _ in range(2):
        torch.rand(3), random.random(), np.random.random_sample()  # noqa: NPY002
        with untouched(nn.Identity(), seed):
            drawn.append((torch.rand(2).tolist(), random.random(), np.random.random_sample()))  # noqa: NPY002
    assert drawn[0] == drawn[1]


def test_untouched_leaves_unchanged_tensors_alone():
    layer = nn.BatchNorm1d(2)
    versions = [t._version for t in (*layer.parameters(), *layer.buffers())]
    with untouched(layer):
        layer.eval()(torch.randn(3, 2))
    assert [t._version for t in (*layer.parameters(), *layer.buffers())] == versions


def test_batch_statistics_without_dropping():
    network = nn.ModuleDict(
        {
            "norm": nn.BatchNorm1d(2),
            "drop": nn.Dropout(0.5),
            "attention": nn.MultiheadAttention(4, 2, dropout=0.3),
            "lstm": nn.LSTM(2, 2, 2, dropout=0.4),
        }
    ).eval()
    with untouched(network):
        use_batch_statistics(network)
        assert network["norm"].training
        assert not network["drop"].training
        assert network["attention"].dropout == 0
        assert network["lstm"].dropout == 0
    assert network["attention"].dropout == 0.3
    assert network["lstm"].dropout == 0.4
    assert not network["norm"].training


@pytest.mark.parametrize(
    ("network", "inputs"),
    [
        (nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3)), torch.randn(2, 2, 5)),
        (nn.LSTM(2, 3, batch_first=True), torch.randn(2, 4, 2)),
        (nn.MultiheadAttention(4, 2), None),
    ],
)
def test_converted_runs_in_another_type_and_gives_the_tensors_back(network, inputs):
    found = {k: (v, v.data_ptr(), v.clone()) for k, v in network.state_dict(keep_vars=True).items()}
    with converted(network, torch.Tensor.double):
        if inputs is None:
            output = network(*[torch.randn(3, 1, 4)] * 3)[0]  # made in float64 by default in here
        else:
            output = network(inputs.double())
            output = output[0] if isinstance(output, tuple) else output
    assert output.dtype == torch.float64
    assert torch.get_default_dtype() == torch.float32
    for name, tensor in network.state_dict(keep_vars=True).items():
        kept, pointer, values = found[name]
        assert tensor is kept
        assert tensor.data_ptr() == pointer
        assert torch.equal(tensor, values) or not tensor.is_floating_point()  # whole numbers are no business of it


def test_converted_gives_back_after_an_exception_and_keeps_sharing():
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    network[1].weight = network[0].weight
    with contextlib.suppress(KeyError), converted(network, lambda t: t.double().abs()):
        assert network[1].weight is network[0].weight
        assert network[0].weight.dtype == torch.float64
        raise KeyError
    assert network[0].weight.dtype == torch.float32
    assert torch.get_default_dtype() == torch.float32


def test_copied_buffers_take_what_is_written_and_are_shared_as_found():
    network = nn.Sequential(nn.BatchNorm1d(2), nn.BatchNorm1d(2))
    network[1]._buffers["running_mean"] = network[0].running_mean
    found = [network[0].running_mean, network[0].running_var]
    version = found[0]._version
    with untouched(network):
        copy_buffers(network)
        assert network[0].running_mean is network[1].running_mean
        network[0].running_mean.add_(1)
        assert found[0].tolist() == [0.0, 0.0]
    assert all(map(is_, (network[0].running_mean, network[0].running_var), found))
    assert network[1].running_mean is found[0]
    assert found[0]._version == version


class Refusing(random.Random):
    """A generator that can be moved, but not put back."""

    def setstate(self, state):
        raise RuntimeError("no way back")


def refusing():
    network = nn.BatchNorm1d(2)
    network.refusing = Refusing(0)
    return network


def test_restoring_never_raises_half_way():
    network = refusing()
    with pytest.raises(UnsupportedError, match=r"cannot be put back as it was found: a tuple \(no way back\)"):  # noqa: SIM117, PT012
        with untouched(network):
            network.refusing.random()
            network.eval().running_mean.add_(1)
    assert network.training
    assert network.running_mean.tolist() == [0, 0]


def test_what_cannot_be_put_back_is_noted_on_the_exception_on_its_way():
    network = refusing()
    with pytest.raises(KeyError) as caught, untouched(network):  # noqa: PT012
        network.refusing.random()
        network.eval()
        raise KeyError("the first of all")
    assert caught.value.__notes__ == ["not put back as found: a tuple (no way back)"]
    assert network.training


def test_settings_of_the_process_are_put_back():
    with untouched(nn.Identity()):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_compiled_code_runs_as_it_was_written_inside():
    torch.compile(nn.Identity(), backend="eager")  # loads the compiler
    with uncompiled():
        assert torch.compiler.is_compiling() is False
        runs = []
        torch.compile(lambda x: runs.append(1) or x, backend=lambda *_: 1 / 0)(torch.ones(1))
    assert runs == [1]
