"""The suite passes on every registered proxy, and fails on proxies that break one promise each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from foresee.proxies import Needs, Proxy, proxies
from foresee.scoring import score, scores
from foresee.testing import ProxySuite
from foresee.testing import networks as kinds

#: what must have a value where, beyond "on at least one network"
VALUES = {
    "dextr": ("convolutional", "transformer"),
    "meco": ("convolutional", "transformer"),
    "naswot": kinds.KINDS,
    "swap": kinds.KINDS,
    "params": kinds.KINDS,
    "grad_norm": kinds.KINDS,
    "snip": kinds.KINDS,
    "zico": kinds.KINDS,
    "synflow": ("convolutional", "mlp", "transformer"),
    "zen": ("convolutional",),
    "az_expressivity": kinds.KINDS,
    "dss": ("transformer",),
    "foresee": kinds.KINDS,
}
#: the default score groups the samples, and projects each one's outputs in a direction of its own
ORDER = {"foresee": "matters"}


@pytest.mark.slow
def _hostile_networks(self):
    ProxySuite.test_hostile_networks(self)


for _name in proxies.names():
    own = {"proxy": _name, "values_on": VALUES.get(_name, ()), "order": ORDER.get(_name)}
    globals()[f"Test_{_name}"] = type(
        f"Test_{_name}", (ProxySuite,), {**own, "test_hostile_networks": _hostile_networks}
    )


# -- the suite can fail -------------------------------------------------------------------------------------------------
def good(probe, *, scale=1.0):
    """The mean of the outputs of the first batch.

    Formula: mean over samples and outputs of f.

    >>> 1 + 1
    2
    """
    return probe.batch.outputs.mean() * scale


def suite(formula: Callable, **fields) -> ProxySuite:
    formula.__doc__ = formula.__doc__ or good.__doc__
    given = {
        "needs": Needs(looks=("batch.outputs",)),
        "paper": "nobody",
        "equation": "",
        "cost": "1 forward run",
        **fields,
    }
    made = Proxy("made_up", formula, "higher", settings={"initialise": "default"}, variants={}, **given)
    return type("Checks", (ProxySuite,), {"proxy": made})()


def _tests() -> list[str]:
    return [name for name in dir(ProxySuite) if name.startswith("test_")]


@pytest.mark.parametrize("test", _tests())
def test_a_good_proxy_passes(test):
    getattr(suite(good), test)()


def writes(probe):
    with torch.no_grad():
        next(probe.network.parameters()).add_(1)
    return probe.batch.outputs.mean()


def switches(probe):
    probe.network.train()
    return probe.batch.outputs.mean()


def hooks(probe):
    next(iter(probe.network.children())).register_forward_hook(lambda *_: None)
    return probe.batch.outputs.mean()


def leaves_gradients(probe):
    parameter = next(probe.network.parameters())
    parameter.grad = None if parameter.grad is not None else torch.zeros_like(parameter)
    return probe.batch.outputs.mean()


def draws_freely(probe):
    return probe.batch.outputs.mean() + torch.rand(())


def reads_the_first(probe):
    return probe.batch.outputs[0].mean()


def reads_labels(probe):
    labels = probe.data[0].labels
    return probe.batch.outputs.mean() + (0.0 if labels is None else labels.double().mean())


def breaks(probe):
    raise IndexError("list index out of range")


def breaks_without_numbers(probe):
    if not bool(probe.batch.outputs.any()):
        raise IndexError("list index out of range")
    return probe.batch.outputs.mean()


def has_none(probe):
    return probe.batch.outputs.mean() * torch.nan


def cannot_draw(probe):
    if float(next(probe.network.parameters()).detach().var()) > 0.9:
        raise KeyError("weights")
    return probe.batch.outputs.mean()


def hands_over_the_batch(probe):
    with probe.contact() as network:
        return network(*probe.data[0].parts).mean().detach()


def runs_into_its_own_work(probe):
    with probe.contact() as network, torch.enable_grad():
        inputs = [part.requires_grad_(part.is_floating_point()) for part in probe.moved(probe.data[0].parts)]
        return network(*inputs).mean().detach()


def keeps_counting(probe, *, calls=[0]):  # noqa: B006
    calls[0] += 1
    return probe.batch.outputs.double().mean() * calls[0]


def counts_its_company(probe):
    return probe.batch.outputs.mean() + len(probe.batch._seen)


def keeps_notes_of_its_company(probe):
    probe.note(looks=len(probe._declared))
    return probe.batch.outputs.mean()


def speechless(probe):
    """Nothing."""
    return probe.batch.outputs.mean()


@pytest.mark.parametrize(
    ("test", "formula", "fields", "message"),
    [
        ("nothing_is_touched", writes, {}, "numbers"),
        ("nothing_is_touched", switches, {}, "mode"),
        ("nothing_is_touched", hooks, {}, "hooks"),
        ("nothing_is_touched", leaves_gradients, {}, "gradient"),
        ("nothing_is_touched", draws_freely, {}, "random state"),
        ("nothing_is_touched_when_the_network_raises", writes, {}, "numbers"),
        ("hostile_networks", hands_over_the_batch, {}, "written into"),
        ("hostile_networks", keeps_counting, {}, "when asked again"),
        ("same_seed_same_value", draws_freely, {}, "when asked again"),
        ("company", counts_its_company, {}, "beside others"),
        ("company", keeps_notes_of_its_company, {}, "parts"),
        ("the_batch_is_untouched", hands_over_the_batch, {}, "written into"),
        ("the_batch_is_untouched", runs_into_its_own_work, {}, "works in place"),
        ("order_of_samples", reads_the_first, {}, "in another"),
        ("labels", reads_labels, {}, "labels are touched"),
        ("labels", good, {"needs": Needs(labels=True)}, "expected unsupported"),
        ("a_value_or_a_reason", breaks, {}, "broke down"),
        ("a_value_or_a_reason", has_none, {}, "no value on any network"),
        ("numbers_that_are_none", breaks_without_numbers, {}, "broke down"),
        ("initialisations", cannot_draw, {}, "broke down"),
        ("declaration", speechless, {}, "no formula"),
        ("declaration", good, {"paper": " "}, "paper is not named"),
        ("declaration", good, {"needs": Needs(looks=("batch.feelings",))}, "batch.feelings"),
        ("declaration", good, {"needs": Needs(looks=("batch.gradients",))}, "backward"),
        ("declaration", good, {"needs": Needs(backward=True, looks=("batch.gradients",))}, "labels"),
    ],
)
def test_broken_promises_are_found(test, formula, fields, message):
    with pytest.raises(AssertionError, match=message):
        getattr(suite(formula, **fields), f"test_{test}")()


def test_the_suite_asks_for_a_proxy():
    with pytest.raises(NotImplementedError, match="give the suite its proxy"):
        ProxySuite().test_declaration()


def test_the_order_that_the_first_sample_decides():
    checks = suite(reads_the_first)
    type(checks).order = "first"
    checks.test_order_of_samples()


def test_unknown_kinds_are_named():
    with pytest.raises(ValueError, match="click-through"):
        kinds.network("quantum")


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_no_score_depends_on_its_company(kind):
    """All proxies together, first to last, and each one alone."""
    network, batch = kinds.network(kind), kinds.batch(kind, 8)
    together = scores(network, batch, repeats=2)
    for name, found in together.items():
        alone = score(network, batch, name, repeats=2)
        assert replace(alone, seconds=0.0) == replace(found, seconds=0.0)
