from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn

from foresee.batch import Batch
from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.kernel import (
    METHODS,
    OUTPUTS,
    PARAMETERS,
    condition_number,
    ntk,
    predicted_bytes,
    sample_gradients,
    sample_norms,
    spectrum,
    trace_estimates,
)
from foresee.probes.kernel.heads import Question
from foresee.probes.kernel.plan import plan
from foresee.probes.probe import Probe

LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


class CoupledInSecret(nn.Module):
    """Looks like a network of independent samples, and is none."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 5)

    def forward(self, signal):
        hidden = self.first(signal)
        return self.second(hidden - hidden.mean(0))


class TokensFirst(nn.Module):
    """Its linear layer sees positions where others have samples."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 2), nn.Linear(4, 5)

    def forward(self, signal):
        turned = self.inner(signal.reshape(len(signal), 2, 2).transpose(0, 1))
        return self.outer(turned.transpose(0, 1).flatten(1).tanh())


class UsedTwice(nn.Module):
    """One layer is called twice, and its weight a third time by hand, if asked."""

    def __init__(self, *, by_hand: bool = False) -> None:
        super().__init__()
        self.inner, self.outer, self.by_hand = nn.Linear(4, 4), nn.Linear(4, 5), by_hand

    def forward(self, signal):
        hidden = self.inner(self.inner(signal).tanh())
        return self.outer(hidden @ self.inner.weight if self.by_hand else hidden)


def convolutions(norm: str, *, inplace: bool = True) -> nn.Module:
    norms = {"batch": nn.BatchNorm2d(4), "group": nn.GroupNorm(2, 4), "none": nn.Identity()}
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding="same", groups=2, padding_mode="reflect"),
        norms[norm],
        nn.ReLU(inplace=inplace),
        nn.Conv2d(4, 4, 3, stride=2, bias=False),
        nn.Flatten(2),
        nn.LayerNorm((4, 4)),
        nn.Conv1d(4, 3, 2, dilation=2),
        nn.ReLU(inplace=inplace),
        nn.Linear(2, 3),
        nn.Flatten(),
        nn.Linear(9, 5),
    )


NETWORKS = {
    "batch norm": (lambda: convolutions("batch"), (2, 6, 6)),
    "group norm": (lambda: convolutions("group"), (2, 6, 6)),
    "no norm": (lambda: convolutions("none", inplace=False), (2, 6, 6)),
    "batch norm 1d": (lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.GELU(), nn.Linear(6, 5)), (4,)),
    "coupled in secret": (CoupledInSecret, (4,)),
    "tokens first": (TokensFirst, (4,)),
    "used twice": (UsedTwice, (4,)),
    "used by hand": (lambda: UsedTwice(by_hand=True), (4,)),
    "three dimensions": (lambda: nn.Sequential(nn.Conv3d(1, 2, 2), nn.Flatten(), nn.Linear(2 * 2, 5)), (1, 2, 3, 2)),
}


def made(name: str, seed: int = 0, samples: int = 4) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    make, shape = NETWORKS[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = make().double()
        return network, torch.randn(samples, *shape, dtype=torch.float64), torch.randint(5, (samples,))


def slow_rows(network, inputs, labels, outputs, parameters) -> torch.Tensor:
    """One backward run per row."""
    own = {id(p) for m in network.modules() if isinstance(m, LAYERS) for p in m.parameters(recurse=False)}
    rules = {
        "all": lambda n, p: True,
        "named_weight": lambda n, p: "weight" in n,
        "conv_linear": lambda n, p: id(p) in own,
    }
    chosen = [p for n, p in network.named_parameters() if rules[parameters](n, p)]
    made = network.train()(inputs)
    directions = Draws(0).normal(f"projection.{'x'.join(map(str, made.shape))}", *made.shape)
    rows = []
    for i, (output, label) in enumerate(zip(made, labels, strict=True)):
        targets = {
            "sum": [output.sum()],
            "label": [output[label]],
            "all": list(output),
            "loss": [F.cross_entropy(made[i : i + 1], label[None])],
            "projection": [(directions[i] * output).sum()],
        }
        for target in targets[outputs]:
            found = torch.autograd.grad(target, chosen, retain_graph=True, allow_unused=True)
            pairs = zip(chosen, found, strict=True)
            rows.append(torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in pairs]))
    return torch.stack(rows)


def flat(gradients, network) -> torch.Tensor:
    """Gradients by name as rows, 0 for parameters that are not there: (samples, heads, ...) or (samples, ...) each."""
    count = len(next(iter(gradients.values())))
    zeros = {name: parameter.new_zeros(count, *parameter.shape) for name, parameter in network.named_parameters()}
    ordered = {**zeros, **gradients}
    return torch.cat([ordered[name].reshape(-1, zeros[name][0].numel()) for name in zeros], 1).detach()


def close(found, expected) -> bool:
    return torch.allclose(found, expected, rtol=1e-9, atol=1e-10 * float(expected.abs().max()))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("outputs", OUTPUTS)
def test_every_way_gives_the_kernel_of_one_backward_run_per_row(name, outputs):
    network, inputs, labels = made(name)
    for parameters in PARAMETERS:
        rows = slow_rows(network, inputs, labels, outputs, parameters)
        for method in ("exact", "layers", "rows"):
            probe = Probe(network, (inputs, labels))
            asked = {"outputs": outputs, "parameters": parameters, "method": method}
            assert close(ntk(probe, **asked).matrix, rows @ rows.T)
            assert close(sample_norms(probe, **asked).flatten(), rows.square().sum(1))
            if parameters == "all":
                found = sample_gradients(probe, **asked)
                heads = (5,) if outputs == "all" else ()
                shapes = {name: (len(inputs), *heads, *network.get_parameter(name).shape) for name in found}
                assert {name: tuple(one.shape) for name, one in found.items()} == shapes
                assert close(flat(found, network), rows)


@examples(20)
@given(
    seed=st.integers(0, 1000),
    widths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    norm=st.sampled_from([nn.BatchNorm1d, nn.LayerNorm, nn.Identity]),
    activation=st.sampled_from([nn.ReLU, nn.Tanh]),
    samples=st.integers(2, 5),
    outputs=st.sampled_from(sorted(OUTPUTS)),
    method=st.sampled_from(["exact", "rows"]),
)
def test_any_small_network(seed, widths, norm, activation, samples, outputs, method):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers, before = [], 3
        for width in widths:
            layers += [nn.Linear(before, width), norm(width), activation()]
            before = width
        network = nn.Sequential(*layers, nn.Linear(before, 5)).double()
        inputs, labels = torch.randn(samples, 3, dtype=torch.float64), torch.randint(5, (samples,))
    rows = slow_rows(network, inputs, labels, outputs, "all")
    probe = Probe(network, (inputs, labels))
    assert close(ntk(probe, outputs=outputs, parameters="all", method=method).matrix, rows @ rows.T)
    assert close(sample_norms(probe, outputs=outputs, method=method).flatten(), rows.square().sum(1))
    assert outputs == "all" or close(flat(sample_gradients(probe, outputs=outputs, method=method), network), rows)


def test_gradients_per_sample_of_one_group_of_parameters_without_influence():
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused, self.frozen = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(2, 2)
            self.frozen.requires_grad_(False)

        def forward(self, x):
            return self.frozen(self.used(x))

    for method in ("layers", "rows"):
        found = sample_gradients(Probe(Half(), torch.randn(4, 3)), outputs="sum", method=method)
        assert sorted(found) == ["used.bias", "used.weight"]


def test_the_bytes_of_gradients_per_sample_are_those_of_a_copy_for_each():
    network, inputs, labels = made("group norm")
    probe = Probe(network, (inputs, labels))
    copies = sum(p.numel() * p.element_size() for p in network.parameters()) * len(inputs)
    for method in ("layers", "rows"):
        with_rows = plan(probe, Question("sum", "all", method, answer="rows")).bytes
        assert with_rows - plan(probe, Question("sum", "all", method, answer="lengths")).bytes == copies


def test_gradients_per_sample_are_not_estimated():
    with pytest.raises(InputError, match="stochastic"):
        sample_gradients(Probe(nn.Linear(2, 1), torch.zeros(2, 2)), outputs="sum", method="stochastic")


def test_the_way_is_the_one_that_applies():
    ways = {name: ntk(Probe(*made(name)[:2]), outputs="sum").plan for name in NETWORKS}
    assert {name for name, plan in ways.items() if plan.way == "layers"} == {"group norm", "no norm", "used twice"}
    together = {name for name, plan in ways.items() if not plan.alone}
    assert together == {"batch norm", "batch norm 1d", "coupled in secret"}


def test_little_memory_takes_parameters_in_groups_and_changes_nothing():
    network, inputs, _ = made("batch norm")
    plenty = ntk(Probe(network, inputs), outputs="all")
    little = ntk(Probe(network, inputs), outputs="all", memory=30_000)
    assert len(plenty.plan.groups) == 1 < len(little.plan.groups)
    assert little.plan.bytes < plenty.plan.bytes
    assert close(little.matrix, plenty.matrix)


def test_the_contraction_is_left_where_it_takes_too_much():
    network, inputs = nn.Linear(3, 2), torch.randn(200, 50, 3)
    inner = nn.Sequential(network, nn.Flatten(), nn.Linear(100, 1))
    assert ntk(Probe(inner, inputs)).plan.way == "layers"
    assert ntk(Probe(inner, inputs), memory=1e5).plan.way == "rows"


@pytest.mark.parametrize("heads", [1, 3, 4])
def test_lengths_are_the_same_however_many_heads_go_together(heads, monkeypatch):
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 10)
    )
    network, inputs = network.double(), torch.randn(4, 3, 6, 6, dtype=torch.float64)
    whole = sample_norms(Probe(network, inputs))
    asked = Question("all", "all", answer="lengths")
    assert plan(Probe(network, inputs), asked).chunk == 40
    exact = plan(Probe(network, inputs), asked)
    monkeypatch.setattr("foresee.probes.kernel.matrix.plan", lambda *_, **__: replace(exact, chunk=4 * heads))
    assert torch.allclose(sample_norms(Probe(network, inputs)), whole, rtol=1e-12)


def test_little_memory_takes_fewer_heads_together():
    network, inputs = nn.Sequential(nn.Linear(20, 300), nn.ReLU(), nn.Linear(300, 10)), torch.randn(8, 20)
    one, all_of_them = (
        plan(Probe(network, inputs), Question("all", "all", memory=memory, answer="lengths"))
        for memory in (1.0, 2.0**31)
    )
    assert (one.way, one.chunk, all_of_them.chunk) == ("layers", 8, 80)
    assert one.bytes < all_of_them.bytes


def test_a_linear_network_by_hand():
    inputs = torch.randn(5, 3, dtype=torch.float64)
    network = nn.Linear(3, 2).double()
    expected = inputs @ inputs.T + 1
    full = ntk(Probe(network, inputs), outputs="all").matrix.reshape(5, 2, 5, 2)
    assert close(full, torch.einsum("ij,cd->icjd", expected, torch.eye(2, dtype=torch.float64)))
    assert close(ntk(Probe(network, inputs), outputs="sum").matrix, 2 * expected)
    labels = torch.tensor([0, 1, 1, 0, 1])
    same = (labels[:, None] == labels[None]).double()
    assert close(ntk(Probe(network, (inputs, labels)), outputs="label").matrix, expected * same)


class Topology(nn.Module):
    """Eq. 7.5: the sum of the outputs of L matrices side by side, or in a row."""

    def __init__(self, width: int, layers: int, *, deep: bool, seed: int = 0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers)).double()
        self.deep = deep
        source = torch.Generator().manual_seed(seed)
        for layer in self.layers:
            nn.init.normal_(layer.weight, generator=source)

    def forward(self, signal):
        if not self.deep:
            return sum(layer(signal) for layer in self.layers)
        for layer in self.layers:
            signal = layer(signal)
        return signal


def test_theorem_7_4_wide():
    inputs = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64)).Q
    for method in ("layers", "rows"):
        kernel = ntk(Probe(Topology(4, 3, deep=False), inputs), outputs="sum", method=method).matrix
        assert close(kernel, 3 * 4 * torch.eye(4, dtype=torch.float64))


def test_theorem_7_4_deep_in_expectation():
    inputs, draws = torch.eye(3, dtype=torch.float64), 200
    nets = (Topology(3, 2, deep=True, seed=seed) for seed in range(draws))
    kernels = torch.stack([ntk(Probe(net, inputs), outputs="sum", method="layers").matrix for net in nets])
    error = kernels.std(0) / draws**0.5
    expected = 2 * 3**2 * torch.eye(3, dtype=torch.float64)
    assert bool(((kernels.mean(0) - expected).abs() < 5 * error).all())
    assert bool((condition_number(spectrum(kernels)) > 1).all())


@pytest.mark.parametrize("name", ["batch norm", "group norm"])
def test_the_order_of_the_samples_only_permutes(name):
    network, inputs, labels = made(name, samples=5)
    order = torch.tensor([3, 0, 4, 2, 1])
    plain = ntk(Probe(network, (inputs, labels)), outputs="label").matrix
    mixed = ntk(Probe(network, (inputs[order], labels[order])), outputs="label").matrix
    assert close(mixed, plain[order][:, order])


@pytest.mark.parametrize("name", ["batch norm", "group norm"])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_left_behind(name, method):
    network, inputs, labels = made(name)
    network.eval()
    before = {key: value.clone() for key, value in network.state_dict().items()}
    given, state = inputs.clone(), torch.get_rng_state()
    ntk(Probe(network, (inputs, labels)), outputs="loss", method=method)
    after = network.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())
    assert not any(m.training or m._forward_hooks or m._forward_pre_hooks for m in network.modules())
    assert all(p.grad is None for p in network.parameters())
    assert torch.equal(inputs, given)
    assert torch.equal(torch.get_rng_state(), state)


class Untouchable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("__len__", "__get__"):
            return super().__torch_function__(func, types, args, kwargs or {})
        raise AssertionError(f"labels were touched by {func}")


@pytest.mark.parametrize("outputs", ["sum", "all"])
def test_labels_are_not_touched_without_need(outputs):
    network, inputs, labels = made("batch norm")
    probe = Probe(network, (inputs, labels.as_subclass(Untouchable)))
    ntk(probe, outputs=outputs)
    trace_estimates(probe, outputs=outputs)


def test_no_labels_is_unsupported_where_they_are_needed():
    network, inputs, _ = made("group norm")
    for outputs in ("label", "loss"):
        with pytest.raises(UnsupportedError, match="no labels"):
            ntk(Probe(network, inputs), outputs=outputs)


def test_labels_that_are_no_classes():
    network, inputs, _ = made("group norm")
    with pytest.raises(UnsupportedError, match="one class label per sample"):
        ntk(Probe(network, (inputs, torch.zeros(4, 5))), outputs="label")
    with pytest.raises(InputError, match="labels from 0 to 7"):
        ntk(Probe(network, (inputs, torch.tensor([0, 1, 7, 2]))), outputs="label")


def test_a_single_logit_is_its_own_class():
    network, inputs = nn.Linear(3, 1), torch.randn(4, 3)
    labels = torch.tensor([0.0, 1.0, 1.0, 0.0])
    own = ntk(Probe(network, (inputs, labels)), outputs="label").matrix
    assert torch.equal(own, ntk(Probe(network, inputs), outputs="sum").matrix)


class Clicks(nn.Module):
    """Dense and sparse inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.dense, self.head = nn.Embedding(7, 3), nn.Linear(2, 3), nn.Linear(6, 5)

    def forward(self, dense, sparse):
        return self.head(torch.cat([self.dense(dense), self.table(sparse).sum(1)], 1).tanh())


def test_several_inputs():
    network, labels = Clicks().double(), torch.tensor([0, 1, 4, 2])
    dense, sparse = torch.randn(4, 2, dtype=torch.float64), torch.randint(7, (4, 3))
    outputs = network(dense, sparse)[range(4), labels]
    found = [torch.autograd.grad(one, list(network.parameters()), retain_graph=True) for one in outputs]
    rows = torch.stack([torch.cat([part.flatten() for part in row]) for row in found])
    probe = Probe(network, Batch((dense, sparse), labels))
    assert close(ntk(probe, outputs="label", parameters="all").matrix, rows @ rows.T)


@pytest.mark.parametrize("method", ["layers", "rows"])
def test_frozen_parameters_do_not_count(method):
    network, inputs, labels = made("group norm")
    rows = slow_rows(network, inputs, labels, "sum", "all")[:, network[0].weight.numel() :]
    network[0].weight.requires_grad_(False)
    assert close(ntk(Probe(network, inputs), method=method).matrix, rows @ rows.T)
    network.requires_grad_(False)
    with pytest.raises(UnsupportedError, match="no parameters of this kind"):
        ntk(Probe(network, inputs), method=method)


def test_float32_is_computed_in_float32_and_multiplied_in_float64():
    network, inputs, labels = made("batch norm")
    exact = ntk(Probe(network, (inputs, labels)), outputs="label").matrix
    kernel = ntk(Probe(network.float(), (inputs.float(), labels)), outputs="label")
    assert kernel.dtype == torch.float32
    assert kernel.matrix.dtype == torch.float64
    assert torch.allclose(kernel.matrix, exact, rtol=1e-3, atol=1e-5 * float(exact.max()))


# -- estimates ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["batch norm", "group norm"])
def test_estimates_of_the_trace_have_no_bias(name):
    network, inputs, _ = made(name)
    exact = float(sample_norms(Probe(network, inputs)).sum())
    estimates = trace_estimates(Probe(network, inputs), probes=120)
    assert abs(float(estimates.mean()) - exact) < 5 * float(estimates.std()) / 120**0.5
    assert not torch.equal(estimates, trace_estimates(Probe(network, inputs, seed=1), probes=120))


def test_projections_have_the_products_of_the_rows_on_average():
    network, inputs, _ = made("batch norm")
    exact = ntk(Probe(network, inputs), outputs="all").matrix
    draws = [Draws(0, repeat=repeat) for repeat in range(30)]
    probes = [Probe(network, inputs, draws=draw) for draw in draws]
    found = torch.stack([ntk(probe, outputs="all", method="stochastic", buckets=64).matrix for probe in probes])
    error = found.std(0) / len(draws) ** 0.5
    assert float(((found.mean(0) - exact).abs() <= 5 * error + 1e-9 * exact.max()).double().mean()) > 0.99
    assert all(draw.used for draw in draws)


# -- the spectrum ---------------------------------------------------------------------------------------------------------
def test_condition_numbers_broadcast():
    values = torch.tensor([[1.0, 4.0], [0.0, 4.0], [-1.0, 4.0], [float("nan"), 1.0], [1e-9, 1.0]])
    found = condition_number(values)
    assert found.tolist()[:3] == [4.0, float("inf"), float("inf")]
    assert found[3].isnan()
    assert found[4].isfinite()
    assert condition_number(torch.tensor([1e-13, 1.0]), torch.float32).isinf()


def test_the_spectrum_of_stacked_kernels():
    rows = torch.randn(3, 4, 6, dtype=torch.float64)
    found = spectrum(rows @ rows.mT)
    assert close(found, torch.linalg.svdvals(rows).square().flip(-1))
    assert spectrum(torch.full((2, 2), float("inf"))).isnan().all()


# -- asking wrongly, and what it will take --------------------------------------------------------------------------------
def test_unknown_names_are_named():
    network, inputs, _ = made("group norm")
    for asked in ({"outputs": "logit"}, {"parameters": "weights"}, {"method": "magic"}):
        with pytest.raises(UnknownNameError, match="of a kernel"):
            ntk(Probe(network, inputs), **asked)
    for asked in ({"memory": 0}, {"buckets": 0}):
        with pytest.raises(InputError):
            ntk(Probe(network, inputs), **asked)
    with pytest.raises(InputError, match="exact"):
        sample_norms(Probe(network, inputs), method="stochastic")
    with pytest.raises(InputError, match="probes 0"):
        trace_estimates(Probe(network, inputs), probes=0)


def test_the_prediction_grows_with_what_is_asked():
    network, inputs, _ = made("batch norm", samples=16)
    few, many = Probe(network, inputs[:4]), Probe(network, inputs)
    assert predicted_bytes(few) < predicted_bytes(many)
    assert predicted_bytes(many, outputs="sum") < predicted_bytes(many, outputs="all")
    assert predicted_bytes(many, matrix=False) < predicted_bytes(many)
    assert predicted_bytes(many, method="stochastic", buckets=10) < predicted_bytes(many, method="stochastic")
