"""What every proxy must do, as tests.

    class TestMine(ProxySuite):
        proxy = "mine"
        values_on = ("convolutional", "mlp")

pytest finds the tests in the subclass. Every assertion says what was expected on which network.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.probes.looks import LOOKS
from foresee.proxies import Proxy, Score, get, proxies
from foresee.proxies.base import STATUSES
from foresee.scoring import score, scores
from foresee.testing import networks, zoo
from foresee.testing.photographs import Photograph
from foresee.testing.samples import random_states

Order = Literal["any", "first", "matters"]


class ProxySuite:
    """Base class; a subclass names its `proxy` and, where the defaults do not fit, the rest."""

    #: a name, `name:variant`, or a proxy that is not registered
    proxy: ClassVar[str | Proxy]
    settings: ClassVar[Mapping[str, Any]] = {}
    #: kinds of networks on which there must be a value; on the others a reason will do. Empty: on at least one
    values_on: ClassVar[tuple[str, ...]] = ()
    #: samples of the batch; None: 8, or more where the proxy needs more batches
    samples: ClassVar[int | None] = None
    #: whether the order of samples matters: not at all ("any"), only which is the first ("first"), or it does ("matters").
    #: None: as the declared looks say
    order: ClassVar[Order | None] = None
    #: how far two values may be apart, relatively, that differ only in the order of additions
    tolerance: ClassVar[float] = 1e-6
    kinds: ClassVar[tuple[str, ...]] = networks.KINDS
    #: initialisations that are tried besides the network's own weights
    schemes: ClassVar[tuple[str, ...]] = ("he", "normal")
    seed: ClassVar[int] = 0

    # -- what is looked at --------------------------------------------------------------------------------------------
    def network(self, kind: str) -> nn.Module:
        """A network of this kind, in float64, always the same."""
        return networks.network(kind, self.seed)

    def batch(self, kind: str) -> Batch:
        """Samples with labels for it."""
        return networks.batch(kind, self.samples or max(8, 2 * self.chosen.needs.batches), self.seed)

    @property
    def chosen(self) -> Proxy:
        """The proxy under test, with its settings."""
        if not hasattr(type(self), "proxy"):
            raise NotImplementedError('give the suite its proxy: proxy = "name"')
        return get(self.proxy, self.settings)

    def scored(self, network: nn.Module, batch: Any, **more: Any) -> Score:
        """The score of a network; `more` are arguments of `foresee.score`."""
        return score(network, batch, self.chosen, **{"seed": self.seed, **more})

    # -- the declaration ----------------------------------------------------------------------------------------------
    def test_declaration(self) -> None:
        """The text has a formula and an example, the source is named, and the needs are complete."""
        chosen = self.chosen
        assert chosen.summary, f"{chosen.name}: no docstring; its first line says what the number is"
        for part, word in (("formula", "Formula: "), ("example", ">>> ")):
            exempt = part == "formula" and chosen.paper == "baseline"
            assert exempt or word in chosen.text, f"{chosen.name}: no {part} in the docstring ({word.strip()!r})"
        for field in ("paper", "cost"):
            assert getattr(chosen, field).strip(), f"{chosen.name}: the {field} is not named"
        for look in chosen.needs.looks:
            where, _, name = look.partition(".")
            known = where in ("sample", "batch", "batches") and name in LOOKS
            assert known, f"{chosen.name} declares the look {look!r}: expected pass.look with a look of {sorted(LOOKS)}"
            root = LOOKS[name].root
            assert not root or chosen.needs.backward, f"{chosen.name}: {look} runs backward, the needs do not say so"
            assert root != "loss" or chosen.needs.labels, f"{chosen.name}: {look} needs labels, the needs do not say so"
        for variant in chosen.variants:
            get(chosen.name) if chosen.variant else chosen.with_settings(chosen.variants[variant])

    # -- the value ----------------------------------------------------------------------------------------------------
    def test_a_value_or_a_reason(self) -> None:
        """On every kind of network: a finite number, or a status that says why there is none."""
        found = {kind: self.scored(self.network(kind), self.batch(kind)) for kind in self.kinds}
        for kind, one in found.items():
            self._check(one, kind)
            assert one.status != "failed", (
                f"{kind}: the proxy broke down: {one.reason}; say `unsupported`, with a reason"
            )
            assert one.ok or kind not in self.values_on, f"{kind}: expected a value, got {one.status}: {one.reason}"
        assert any(one.ok for one in found.values()), f"no value on any network: {[str(one) for one in found.values()]}"

    def test_same_seed_same_value(self) -> None:
        """Two calls agree, whatever other random numbers were drawn in between; so do two equal networks."""
        for kind, first in self._with_values():
            network, batch = self.network(kind), self.batch(kind)
            torch.rand(3), random.random(), np.random.rand()  # noqa: NPY002
            again = self.scored(network, batch)
            assert again.value == first.value, f"{kind}: {first.value}, and {again.value} when asked again"

    def test_order_of_samples(self) -> None:
        """Samples in another order give the same value, as far as declared."""
        order = self.order or self._order()
        if order == "matters":
            return
        for kind, first in self._with_values():
            batch = self.batch(kind)
            turned = list(range(len(batch)))[::-1]
            if order == "first":
                turned = [0, *turned[:-1]]
            other = self.scored(self.network(kind), self._picked(batch, turned))
            assert other.ok, f"{kind}: {other.status} in another order: {other.reason}"
            assert first.value is not None
            assert other.value is not None
            close = math.isclose(first.value, other.value, rel_tol=self.tolerance, abs_tol=self.tolerance)
            assert close, f"{kind}: {first.value} in one order of the samples, {other.value} in another"

    def test_company(self) -> None:
        """Beside all registered proxies that share passes, and after them, the value is the same as alone."""
        for kind, alone in islice(self._with_values(), 1):
            own = self.chosen
            others = [one for name in proxies if (one := proxies[name]).needs.looks and one.full_name != own.full_name]
            found = scores(self.network(kind), self.batch(kind), [*others, own], seed=self.seed)[own.full_name]
            assert found.value == alone.value, f"{kind}: {alone.value} alone, beside others {found}"
            assert found.parts == alone.parts, f"{kind}: parts {alone.parts} alone, {found.parts} beside others"

    def test_labels(self) -> None:
        """Without the need of labels none is touched; with it, their absence is said."""
        for kind, first in self._with_values():
            batch = self.batch(kind)
            assert batch.labels is not None
            if self.chosen.needs.labels:
                found = self.scored(self.network(kind), replace(batch, labels=None))
                assert found.status == "unsupported", f"{kind}: {found.status} without labels, expected unsupported"
                assert "labels" in found.reason, f"{kind}: the reason does not name the labels: {found.reason}"
                continue
            for labels in (None, batch.labels.as_subclass(_Untouchable)):
                found = self.scored(self.network(kind), replace(batch, labels=labels))
                assert found.value == first.value, f"{kind}: labels are touched, but not declared: {found}"

    def test_initialisations(self) -> None:
        """Weights can be drawn: a value or a reason then, too."""
        for kind, _ in self._with_values():
            for scheme in self.schemes:
                found = self.scored(self.network(kind), self.batch(kind), initialise=scheme)
                self._check(found, f"{kind}, {scheme}")
                assert found.status != "failed", f"{kind}, {scheme}: the proxy broke down: {found.reason}"

    def test_repeats(self) -> None:
        """Repeats have a mean and a spread; the spread is 0 where nothing is drawn."""
        for kind, first in self._with_values():
            found = self.scored(self.network(kind), self.batch(kind), repeats=2)
            self._check(found, kind)
            if found.ok:
                assert found.spread is not None, f"{kind}: two repeats have no spread"
                assert found.spread >= 0, f"{kind}: a spread of {found.spread}"
                still = found.spread > 0 or math.isclose(found.value or 0, first.value or 0, rel_tol=1e-9)
                assert still, f"{kind}: no spread, but a mean of {found.value} where one draw gives {first.value}"

    # -- failure and state ----------------------------------------------------------------------------------------------
    def test_nothing_is_touched(self) -> None:
        """Weights, buffers, gradients, modes, hooks, attributes and random states are as before."""
        for kind in self.kinds:
            self._unchanged(kind, _used(self.network(kind)))

    def test_the_batch_is_untouched(self) -> None:
        """A network whose first layer works in place writes into copies: into neither the inputs nor the labels."""
        for kind in self.kinds:
            given, again = self.batch(kind), self.batch(kind)
            found = self.scored(networks.Overwriting(self.network(kind)), given)
            same = map(torch.equal, (*given.parts, given.labels), (*again.parts, again.labels))  # type: ignore[arg-type]
            assert all(same), f"{kind}: the batch was written into"
            plain = self.scored(networks.Overwriting(self.network(kind), copies=True), again)
            assert found.status == plain.status, f"{kind}: {plain}, and {found} where a layer works in place"
            if found.ok and plain.value is not None:
                close = math.isclose(found.value or 0, plain.value, rel_tol=self.tolerance, abs_tol=self.tolerance)
                assert close, f"{kind}: {plain.value}, and {found.value} where the first layer works in place"

    def test_nothing_is_touched_when_the_network_raises(self) -> None:
        """The same for a network that fails half-way, at its first call or a later one; the failure is a status."""
        for kind in self.kinds:
            for calls in (0, 1):
                network = _used(self.network(kind))
                last = [module for module in network.modules() if isinstance(module, nn.Linear)][-1]
                vars(last)["forward"] = _Raising(last.forward, calls)
                self._check(self._unchanged(kind, network), f"{kind} that raises")

    def test_hostile_networks(self) -> None:
        """Every resident of the zoo, as real people and hostile ones write networks: a value or a reason, the same twice.

        The network, its batch and all random states are as before, bit by bit.
        """
        for name in zoo.names():
            network, count = zoo.made(name, self.seed), self.samples or max(8, 2 * self.chosen.needs.batches)
            given, again = zoo.batch(count, self.seed), zoo.batch(count, self.seed)
            found = self._unchanged(name, network, given)
            self._check(found, f"a network that {name}")
            same = map(torch.equal, (*given.parts, given.labels), (*again.parts, again.labels))  # type: ignore[arg-type]
            assert all(same), f"a network that {name}: the batch was written into"
            second = self.scored(network, given)
            both = [(one.value, one.status, one.reason) for one in (found, second)]
            assert both[0] == both[1], f"a network that {name}: {both[0]}, and {both[1]} when asked again"

    def test_numbers_that_are_none(self) -> None:
        """A network whose weights are NaN, or all 0, gets a finite value or a status: never NaN, never a magic number."""
        for kind in self.kinds:
            for weight in (math.nan, 0.0):
                network = self.network(kind)
                for parameter in network.parameters():
                    nn.init.constant_(parameter, weight)
                found = self.scored(network, self.batch(kind))
                self._check(found, f"{kind} with weights {weight}")
                assert found.status != "failed", f"{kind} with weights {weight}: the proxy broke down: {found.reason}"

    # -- help -----------------------------------------------------------------------------------------------------------
    def _with_values(self) -> Iterable[tuple[str, Score]]:
        for kind in self.kinds:
            found = self.scored(self.network(kind), self.batch(kind))
            if found.ok:
                yield kind, found

    def _check(self, found: Score, where: str) -> None:
        assert found.status in STATUSES, f"{where}: unknown status {found.status!r}"
        if found.ok:
            assert found.value is not None, f"{where}: the status is ok, but there is no value"
            assert math.isfinite(found.value), f"{where}: the value is {found.value}"
        else:
            assert found.value is None, f"{where}: {found.status}, and yet a value: {found.value}"
            assert found.reason.strip(), f"{where}: {found.status} without a reason"

    def _order(self) -> Order:
        needs = self.chosen.needs
        if needs.batches > 1:
            return "matters"
        return "first" if any(look.startswith("sample.") for look in needs.looks) else "any"

    def _picked(self, batch: Batch, order: list[int]) -> Batch:
        parts = tuple(part[order] for part in batch.parts)
        labels = None if batch.labels is None else batch.labels[order]
        return Batch(parts if isinstance(batch.inputs, tuple) else parts[0], labels)

    def _unchanged(self, kind: str, network: nn.Module, batch: Batch | None = None) -> Score:
        before, states = Photograph(network), _process()
        found = self.scored(network, batch or self.batch(kind))
        changed = before.differences(Photograph(network))
        assert not changed, f"{kind}: changed by the proxy: {changed[:5]}"
        assert states == _process(), f"{kind}: the proxy moved a global random state, or changed a setting of torch"
        return found


class _Untouchable(Tensor):
    """Labels that only tell how many they are, and of which kind."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is Tensor.__len__ or function.__name__ == "__get__":
            return super().__torch_function__(function, types, args, kwargs)  # type: ignore[no-untyped-call]
        raise AssertionError(f"labels were touched by {function.__name__}")


class _Raising:
    """Runs `calls` times, then raises."""

    def __init__(self, forward: Callable[..., Any], calls: int) -> None:
        self.forward, self.calls = forward, calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.calls == 0:
            raise KeyError("the network fails half-way")
        self.calls -= 1
        return self.forward(*args, **kwargs)


def _used(network: nn.Module) -> nn.Module:
    """As if a user had worked with it: gradients, a hook, a part in eval mode, a frozen bias."""
    network.eval()
    parameters = list(network.parameters())
    parameters[0].grad = torch.ones_like(parameters[0])
    parameters[-1].requires_grad_(False)
    first = next(network.children())
    first.train()
    first.register_forward_hook(lambda module, args, output: None)
    return network


def _process() -> tuple[Any, ...]:
    """What a network may change for everybody."""
    return *random_states(), torch.get_default_dtype(), torch.is_grad_enabled()
