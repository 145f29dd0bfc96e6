"""Tools of one-shot networks: storage that is shared, weights that are refused; the gradient of a straight-through draw."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from foresee.errors import InputError, UnknownNameError
from foresee.seeds import generator, stream
from foresee.spaces.darts import DARTSNASI
from foresee.spaces.nasbench1shot1 import NASBench1Shot1S2
from foresee.spaces.nasbench201 import NASBench201
from foresee.spaces.one_shot import check_vectors, share, share_corners, straight_through, tensors
from foresee.task import Task


def small(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width))


def test_tensors_are_parameters_and_buffers():
    assert set(tensors(small(2))) == {
        *("0.weight", "0.bias", "1.weight", "1.bias"),
        *("1.running_mean", "1.running_var", "1.num_batches_tracked"),
    }


def test_corners_lie_in_the_storage_of_the_whole():
    whole, alone = small(5), small(2)
    share_corners(alone, whole)
    with torch.no_grad():
        whole[0].weight.fill_(7.0)
        alone[1].running_mean.fill_(3.0)
    assert alone[0].weight.unique().tolist() == [7.0]
    assert isinstance(alone[0].weight, nn.Parameter)
    assert whole[1].running_mean.tolist() == [3.0, 3.0, 0.0, 0.0, 0.0]


def test_what_is_missing_or_too_small_is_named():
    with pytest.raises(InputError, match=r"0\.weight: source of shape \(2, 3\), expected \(4, 3\)"):
        share_corners(small(4), small(2))
    with pytest.raises(InputError, match=r"no source for 0\.weight"):
        share(small(2), {})


def test_rows_are_no_vector():
    check_vectors({"a": torch.ones(3)})
    with pytest.raises(InputError, match=r"weights of a: shape \(2, 3\), expected one vector"):
        check_vectors({"a": torch.ones(2, 3)})


# -- straight-through draws -----------------------------------------------------------------------------------------------
TASK = Task((3, 6, 6), 3)
TEMPERATURE = 0.7
NETWORKS = {
    "nasbench201": lambda: NASBench201(channels=2, cells=1).one_shot(TASK),
    "nasbench1shot1": lambda: NASBench1Shot1S2().one_shot(TASK, channels=2, cells=3),
    "darts_nasi": lambda: DARTSNASI().one_shot(TASK, channels=2, layers=3),
}


@pytest.fixture(params=NETWORKS)
def network(request):
    torch.manual_seed(0)
    return NETWORKS[request.param]().double()


@pytest.fixture
def smooth(network):
    """The same with smooth layers: maps of weight zero lie exactly where ReLU and max-pooling have no derivative."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.ReLU):
                setattr(module, name, nn.SiLU())
            elif isinstance(child, nn.MaxPool2d):
                setattr(module, name, nn.AvgPool2d(child.kernel_size, child.stride, child.padding, child.ceil_mode))
    return network


def batch():
    return torch.randn(4, *TASK.inputs, generator=generator(0, "x")).double(), torch.tensor([0, 1, 2, 0])


def objective(network, weights, **how):
    """What NASI differentiates: the squared norm of the gradient of the loss by the parameters."""
    x, y = batch()
    loss = F.cross_entropy(network.mix(weights, **how)(x), y)
    found = torch.autograd.grad(loss, list(network.parameters()), create_graph=True, allow_unused=True)
    return sum(one.square().sum() for one in found if one is not None)


def flat(vectors):
    return torch.cat([one.detach().flatten() for one in vectors])


def differences(value, vectors, names, step=1e-5):
    """The derivative of a function by each number of some vectors, by central differences."""
    found = {}
    for name in names:
        moves = step * torch.eye(len(vectors[name]), dtype=torch.float64)
        ends = [[value({**vectors, name: vectors[name] + sign * move}).item() for sign in (1, -1)] for move in moves]
        found[name] = torch.tensor([(up - down) / (2 * step) for up, down in ends], dtype=torch.float64)
    return found


def draws(network, seed=1):
    """Logits, their straight-through weights, and the soft weights of the same draw, found in another way."""
    logits = {name: v.detach().double().requires_grad_() for name, v in network.logits(0.3, generator(0)).items()}
    numbers = generator(seed, "gumbel")
    soft = {}
    for name, vector in logits.items():
        noise = torch.rand(len(vector), generator=numbers, dtype=torch.float64)
        power = (vector.detach().exp() / -noise.log()) ** (1 / TEMPERATURE)
        soft[name] = power / power.sum()
    drawn = network.draw(logits, temperature=TEMPERATURE, generator=generator(seed, "gumbel"))
    return logits, drawn, soft


@pytest.mark.parametrize("seed", [1, 5])
def test_a_straight_through_draw_has_the_gradient_of_all_options(smooth, seed):
    """By hand: the derivative by each weight at the hard draw, through the Jacobian of the softmax."""
    logits, drawn, soft = draws(smooth, seed)
    names = list(logits)[::3] if len(logits) > 8 else list(logits)
    found = torch.autograd.grad(objective(smooth, drawn), [logits[name] for name in names])
    hard = {name: vector.detach() for name, vector in drawn.items()}
    slopes = differences(lambda weights: objective(smooth, weights), hard, names)
    jacobians = {name: torch.diag(soft[name]) - torch.outer(soft[name], soft[name]) for name in names}
    expected = [jacobians[name] @ slopes[name] / TEMPERATURE for name in names]
    assert sum(bool(one.abs().max() > 1e-4) for one in expected) > 2
    torch.testing.assert_close(flat(found), flat(expected), rtol=1e-5, atol=1e-6 * flat(expected).abs().max().item())


def test_a_relaxed_draw_against_differences(smooth):
    """The soft weights themselves, whose gradient is that of the function they give."""
    logits, _, soft = draws(smooth)
    noise = {name: TEMPERATURE * soft[name].log() - logits[name].detach() for name in logits}
    way = {name: torch.randn(len(vector), generator=generator(2, name)).double() for name, vector in logits.items()}

    def relaxed(step):
        moved = {name: logits[name] + step * way[name] + noise[name] for name in logits}
        return objective(smooth, {name: torch.softmax(one / TEMPERATURE, -1) for name, one in moved.items()})

    found = torch.autograd.grad(relaxed(0.0), list(logits.values()))
    slope = sum((one * way[name]).sum().item() for name, one in zip(logits, found, strict=True))
    assert slope == pytest.approx((relaxed(1e-5).item() - relaxed(-1e-5).item()) / 2e-5, rel=1e-5)


def test_the_gradient_of_what_was_drawn_alone_is_another(network):
    """The cheap form has the same value, and a gradient that is neither as long nor as straight."""
    values, gradients = [], []
    for gradient in ("all", "chosen"):
        logits, drawn, _ = draws(network)
        values.append(objective(network, drawn, gradient=gradient))
        found = torch.autograd.grad(values[-1], list(logits.values()), allow_unused=True)
        pairs = zip(found, logits.values(), strict=True)
        gradients.append(flat(torch.zeros_like(logit) if one is None else one for one, logit in pairs))
    assert values[0].item() == pytest.approx(values[1].item(), rel=1e-9)
    assert bool(gradients[1].any())
    assert F.cosine_similarity(*gradients, dim=0) < 0.97


@pytest.mark.parametrize("gradient", ["all", "chosen"])
def test_a_draw_is_a_path_and_costs_what_its_gradient_needs(network, gradient):
    network.eval()
    calls = []
    for name, module in network.named_modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(lambda *_, name=name: calls.append(name))

    def convolutions(run):
        calls.clear()
        return run(), len(calls)

    _, drawn, _ = draws(network)
    x, _ = batch()
    hard = {name: vector.detach() for name, vector in drawn.items()}
    assert all(set(vector.tolist()) <= {0.0, 1.0} for vector in hard.values())
    path, cheap = convolutions(lambda: network.mix(hard)(x))
    out, cost = convolutions(lambda: network.mix(drawn, gradient=gradient)(x))
    torch.testing.assert_close(out, path, rtol=1e-12, atol=1e-12)
    assert cost == cheap if gradient == "chosen" else cost > 1.3 * cheap
    with torch.no_grad():  # nothing is to be differentiated
        assert convolutions(lambda: network.mix(drawn, gradient=gradient)(x))[1] == cheap


def test_several_options_of_a_choice():
    logits = {"one": torch.zeros(4), "three": torch.zeros(5)}
    for number in range(20):
        drawn = straight_through(logits, generator=generator(number), counts={"three": 3})
        assert [sorted(vector.tolist()) for vector in drawn.values()] == [[0, 0, 0, 1], [0, 0, 1, 1, 1]]


def test_unknown_gradients_are_refused():
    space = NASBench201(channels=2, cells=1)
    with pytest.raises(UnknownNameError, match="gradient 'soft'"):
        space.one_shot(TASK).mix(space.one_shot(TASK).path(space.sample(stream(0))), gradient="soft")
