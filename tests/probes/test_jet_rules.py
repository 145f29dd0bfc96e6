from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, reject
from hypothesis import strategies as st
from tests.probes.curves import assert_same, curve_of, seeded
from tests.properties import examples
from torch import nn
from torch.utils.checkpoint import checkpoint

from foresee.errors import UnsupportedError
from foresee.probes.jets import taylor

IMAGE, TOKENS, ROWS, SERIES, VOLUME = (2, 4, 6, 6), (2, 5, 8), (3, 8), (2, 4, 9), (2, 2, 4, 4, 4)


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x)


class Attention(nn.Module):
    def __init__(self, channels, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(channels, 2, batch_first=True)
        self.options = options

    def forward(self, x):
        tokens = x.flatten(2).transpose(1, 2) if x.dim() == 4 else x
        mixed, _ = self.attention(tokens, tokens, tokens, **self.options)
        return mixed.transpose(1, 2).view_as(x) if x.dim() == 4 else mixed


class ChannelsLast(nn.Module):
    """Layer norm over channels by permuting, and an implicit fused attention."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x):
        y = self.norm(x.permute(0, 2, 3, 1))
        return F.scaled_dot_product_attention(y, y * y, y).permute(0, 3, 1, 2).contiguous()


class Gate(nn.Module):
    """Squeeze and excite."""

    def __init__(self, channels):
        super().__init__()
        self.linear = nn.Linear(channels, channels)

    def forward(self, x):
        return x * torch.sigmoid(self.linear(x.mean((2, 3))))[:, :, None, None]


def shared(channels):
    layer = nn.Conv2d(channels, channels, 3, padding=1)
    return nn.Sequential(layer, nn.Tanh(), layer)


def conv_norm(channels, norm):
    return nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), norm)


def in_eval(norm):
    with torch.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    return norm.eval()


BLOCKS = {
    "batch norm": lambda c: conv_norm(c, nn.BatchNorm2d(c)),
    "plain batch norm": lambda c: conv_norm(c, nn.BatchNorm2d(c, affine=False, track_running_stats=False)),
    "batch norm in eval": lambda c: conv_norm(c, in_eval(nn.BatchNorm2d(c))),
    "group norm": lambda c: conv_norm(c, nn.GroupNorm(2, c)),
    # the convolution behind it gives the backward pass the one layout of gradients that torch gets right on the CPU
    "instance norm": lambda c: nn.Sequential(nn.InstanceNorm2d(c, affine=True), nn.Conv2d(c, c, 1)),
    "relu in place": lambda c: nn.Sequential(nn.Conv2d(c, c, 1), nn.ReLU(inplace=True)),
    "gelu": lambda c: nn.GELU(),
    "silu": lambda c: nn.SiLU(inplace=True),
    "max pool": lambda c: nn.MaxPool2d(3, 1, 1),
    "avg pool": lambda c: nn.AvgPool2d(3, 1, 1, count_include_pad=False),
    "depthwise": lambda c: nn.Conv2d(c, c, 3, padding=1, groups=c),
    "residual": lambda c: Residual(nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 1)),
    "shared": shared,
    "attention": Attention,
    "layer norm": ChannelsLast,
    "gate": Gate,
    "dropout": lambda c: nn.Dropout(0.3),
}


def assert_agrees(network, curve, tolerance=1e-9):
    """Jets against autograd, on about a dozen outputs: autograd works output by output."""
    ours = taylor(network, *curve, method="jets")
    step = max(1, ours[0].numel() // 12)
    theirs = taylor(network, *curve, select=lambda output: output.flatten()[::step], method="double_backward")
    assert ours[0].shape == ours[1].shape == ours[2].shape
    assert_same([part.flatten()[::step] for part in ours], theirs, tolerance)


# -- against autograd ------------------------------------------------------------------------------------------------


@examples(30)
@given(
    blocks=st.lists(st.sampled_from(sorted(BLOCKS)), min_size=1, max_size=4),
    batch=st.integers(1, 2),
    seed=st.integers(0, 1000),
)
def test_random_networks_agree_with_double_backward(blocks, batch, seed):
    torch.manual_seed(seed)
    layers = [BLOCKS[block](4) for block in blocks]
    stem, head = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4, 3)
    # without a curved function at the end the mean of a normalised map would be constant
    network = nn.Sequential(stem, *layers, nn.Softplus(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), head).double()
    curve = curve_of((batch, 3, 5, 5), seed)
    ours = taylor(network, *curve, method="jets")
    try:
        theirs = taylor(network, *curve, method="double_backward")
    except UnsupportedError:  # autograd cannot go back through two writes into one activation; jets need not go back
        reject()
    assert_same(ours, theirs)


ACTIVATIONS = [
    *(nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.CELU, nn.SELU, nn.GELU, nn.SiLU, nn.Mish, nn.Sigmoid, nn.LogSigmoid),
    *(nn.Tanh, nn.Softplus, nn.Softsign, nn.Hardswish, nn.Hardtanh, nn.Hardshrink, nn.Softshrink, nn.Tanhshrink),
    *(nn.PReLU, nn.GLU),
]


@pytest.mark.parametrize("kind", ACTIVATIONS, ids=lambda kind: kind.__name__)
def test_activations(kind):
    network, (point, velocity, acceleration) = kind().double(), 2 * curve_of((4, 16))
    point[0, :4] = 0.0  # kinks: the choice there is autograd's
    assert_agrees(network, (point, velocity, acceleration))


ONES = torch.ones(2, 5, 5, dtype=torch.float64)
MODULES = {
    "same padding": (lambda: nn.Conv2d(4, 4, 3, padding="same", groups=2), IMAGE),
    "reflect padding": (lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), IMAGE),
    "transposed": (lambda: nn.ConvTranspose2d(4, 4, 2, stride=2), IMAGE),
    "conv1d": (lambda: nn.Conv1d(4, 4, 3), SERIES),
    "conv3d": (lambda: nn.Conv3d(2, 2, 3), VOLUME),
    "unbatched": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.MaxPool2d(2)), (2, 6, 6)),
    "batch norm of rows": (lambda: nn.BatchNorm1d(8), ROWS),
    "batch norm of series": (lambda: nn.BatchNorm1d(4, momentum=None), SERIES),
    "instance norm in eval": (lambda: in_eval(nn.InstanceNorm2d(4, track_running_stats=True)), IMAGE),
    "layer norm of two axes": (lambda: nn.LayerNorm((5, 8)), TOKENS),
    "rms norm": (lambda: nn.RMSNorm(8), TOKENS),
    "max pool 1d": (lambda: nn.MaxPool1d(2), SERIES),
    "max pool 3d": (lambda: nn.MaxPool3d(2), VOLUME),
    "adaptive max pool": (lambda: nn.AdaptiveMaxPool2d(2), IMAGE),
    "adaptive avg pool": (lambda: nn.AdaptiveAvgPool2d(4), IMAGE),
    "lp pool": (lambda: nn.LPPool2d(2, 2), IMAGE),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE),
    "nearest": (lambda: nn.Upsample(scale_factor=2), IMAGE),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), IMAGE),
    "linear of tokens": (lambda: nn.Linear(8, 3), TOKENS),
    "linear of a vector": (lambda: nn.Linear(8, 3), (8,)),
    "dropout of channels": (lambda: nn.Dropout2d(0.5), IMAGE),
    "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), TOKENS),
    "encoder in eval": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), TOKENS),
    "attention without weights": (lambda: Attention(8, need_weights=False), TOKENS),
    "pooling after channels last": (
        lambda: nn.Sequential(
            nn.Conv2d(4, 3, 3),
            Lambda(lambda x: x.permute(0, 2, 3, 1)),
            nn.LayerNorm(3),
            nn.Linear(3, 5),
            Lambda(lambda x: x.permute(0, 3, 1, 2)),
            nn.AdaptiveAvgPool2d(1),
        ),
        IMAGE,
    ),
    "channels last": (
        lambda: nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2)).to(
            memory_format=torch.channels_last
        ),
        IMAGE,
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    make, shape = MODULES[name]
    assert_agrees(seeded(make()), curve_of(shape))


def written(x):
    y = x**2
    y[:, 1:3] = x[:, 2:4] ** 3
    y[:, 5] = torch.ones(3, dtype=torch.float64)
    y[x > 0.5] = 0
    y[:, 6].zero_()
    y.masked_fill_(x < -1, 2.0)
    y.index_add_(1, torch.tensor([0]), x[:, :1] ** 2)
    return y * x


FUNCTIONS = {
    "arithmetic": (lambda x: x + x * x - 2 * x / 3 + 1 - x + 1 / (x * x + 1) + x / (2 + x.sin()), ROWS),
    "powers": (lambda x: 2**x + x**3 + x**0.0 + x**1 + (x * x + 1) ** 0.5 + (0 * x) ** 2 + x.square(), ROWS),
    "tensor powers": (lambda x: (x * x + 1) ** torch.full((8,), 1.5, dtype=torch.float64), ROWS),
    "exponentials": (lambda x: x.exp() + x.exp2() + x.expm1() + x.sinh() + x.cosh() + x.erf(), ROWS),
    "logarithms": (lambda x: (x * x + 1).log() + (x * x + 1).log2() + (x * x + 1).log10() + (x * x).log1p(), ROWS),
    "roots and angles": (lambda x: (x * x + 1).sqrt() + (x * x + 1).rsqrt() + x.cos() + x.tan() + x.atan(), ROWS),
    "limits": (
        lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0.1) + x.clamp(max=0.3) + x.abs() + F.threshold(x, 0, 1),
        ROWS,
    ),
    "broadcasting": (lambda x: x[0] + ONES[..., :1] - x.mean() + x[1] * ONES[..., :1] / (x[0] ** 2 + 1), ROWS),
    "narrow constants": (lambda x: x * torch.full((8,), 2.0) + torch.ones(8), ROWS),
    "einsum": (lambda x: torch.einsum("bti,bsi->bts", x, x), TOKENS),
    "matrices": (lambda x: x @ x.T + (x @ x[0]) + torch.dot(x[0], x[1]), ROWS),
    "constant factors": (lambda x: ONES @ x + torch.baddbmm(x, ONES, x, beta=0.5, alpha=2), TOKENS),
    "fused products": (lambda x: torch.addcmul(x, x, x, value=0.5) + torch.addcdiv(x, x, x * x + 1), ROWS),
    "joining": (
        lambda x: torch.cat([x, x * x, torch.ones(3, 2).double()], 1).sum(1) + torch.stack([x, x**2])[1, 0, 0],
        ROWS,
    ),
    "cutting": (
        lambda x: sum(a * b for a, b in zip(x.split(4, 1), x.chunk(2, 1), strict=True)) + x.unbind(1)[0][0],
        ROWS,
    ),
    "moving": (lambda x: x.roll(1, 1) * x.flip(1) + x.repeat(1, 2)[:, 3:11] ** 2, ROWS),
    "indexing": (lambda x: x[:, [0, 2, 2]] * x.gather(1, torch.zeros(3, 3).long()) + x[..., None, 1], ROWS),
    "choosing": (lambda x: torch.where(x > 0, x * x, 0.0) + (x * x).masked_fill(x > 1, 3.0) + x.tril() ** 2, ROWS),
    "running sums": (lambda x: (x * x).cumsum(1) + F.pad(x * x, (1, 0), value=2.0)[:, :8], ROWS),
    "unfolding": (lambda x: F.fold(F.unfold(x, 2), (6, 6), 2) ** 2, IMAGE),
    "maxima": (lambda x: x.max(1)[0] + x.amax(1) + x.max() + x.min(1).values + x.amin((0, 1)), ROWS),
    "larger of two": (lambda x: torch.maximum(x, x * x) + torch.min(x, -x) + torch.maximum(0 * x, 0 * x * x), ROWS),
    "ordering": (lambda x: x.topk(2)[0].sum(1) ** 2 + x.sort(dim=1, descending=True).values[:, 1] ** 2, ROWS),
    "moments": (lambda x: x.var(1) + x.std((0, 1)) + x.var(1, unbiased=False) + torch.var_mean(x, 1)[1] ** 2, ROWS),
    "lengths": (lambda x: F.normalize(x) + F.normalize(x, p=1) + x / x.norm(), ROWS),
    "cosine": (lambda x: F.cosine_similarity(x, x.roll(1, 0) + 1), ROWS),
    "softmax": (lambda x: x.softmax(1) + x.log_softmax(0) + x.logsumexp(1, keepdim=True) + x.logsumexp(0), ROWS),
    "masked softmax": (lambda x: (x + torch.tensor([0.0, -math.inf] * 4).double()).softmax(-1), ROWS),
    "causal attention": (lambda x: F.scaled_dot_product_attention(x, x, x * x, is_causal=True), TOKENS),
    "writing": (written, ROWS),
    "cut derivatives": (
        lambda x: x * x.detach() + (x > 0).double() - x.sigmoid().detach() + x.sigmoid() + x.round(),
        ROWS,
    ),
    "python decides": (lambda x: x * x if x.sum().item() > 0 else x.exp(), ROWS),
    "another type": (lambda x: x.to(torch.float32).to(torch.float64) * 2 + x.long(), ROWS),
    "checkpoint": (lambda x: checkpoint(lambda y: y.tanh() ** 2, x, use_reentrant=False), ROWS),
    "hard sample": (lambda x: F.gumbel_softmax(x, hard=True), ROWS),
    "constant": (lambda x: torch.ones(3, 2, dtype=torch.float64), ROWS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    function, shape = FUNCTIONS[name]
    assert_agrees(Lambda(function), curve_of(shape), 1e-6 if name == "another type" else 1e-9)


def test_writing_through_views_reaches_what_they_share():
    """Autograd refuses this one twice; the same without writing is the reference."""

    def writes(x):
        y = x * 1
        y.view(-1)[3:9].mul_(y.view(-1)[3:9].sigmoid())
        y[0] += 1
        y.t()[2].exp_()
        return y * y

    def makes(x):
        flat = x.reshape(-1)
        y = torch.cat([flat[:3], flat[3:9] * flat[3:9].sigmoid(), flat[9:]]).view(3, 8)
        y = torch.cat([y[:1] + 1, y[1:]])
        y = torch.cat([y[:, :2], y[:, 2:3].exp(), y[:, 3:]], 1)
        return y * y

    curve = curve_of(ROWS)
    assert_same(taylor(Lambda(writes), *curve, method="jets"), taylor(Lambda(makes), *curve, method="double_backward"))


def test_float32_stays_float32():
    network = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
    curve = curve_of(IMAGE, dtype=torch.float32)
    assert_agrees(network, curve, 1e-4)


def test_instance_norm_before_a_permutation():
    """One sample and permuted gradients: torch's backward pass on the CPU is wrong here, so differences are the judge."""
    network = nn.Sequential(nn.InstanceNorm2d(4), Lambda(lambda x: x.permute(0, 2, 3, 1)))
    point, velocity, acceleration = curve_of((1, 4, 5, 5))
    step = 1e-4
    below, here, above = (network(point + t * velocity + t * t / 2 * acceleration) for t in (-step, 0.0, step))
    _, first, second = taylor(network, point, velocity, acceleration, method="jets")
    assert torch.allclose(first, (above - below) / (2 * step), atol=1e-6)
    assert torch.allclose(second, (above - 2 * here + below) / step**2, atol=1e-5)


def test_a_vector_that_stays_zero_has_no_derivatives():
    """As padded tokens in windowed attention; autograd's second derivative of their length is NaN."""
    keep = torch.tensor([[1.0], [0.0], [1.0]], dtype=torch.float64)
    for function in (F.normalize, lambda x: x / (x.norm(dim=1, keepdim=True) + 1), lambda x: x.std(1, keepdim=True)):
        curve = curve_of(ROWS)
        some, whole = (
            taylor(Lambda(lambda x, f=function: f(x * keep)), *curve, method="jets"),
            taylor(Lambda(function), *curve),
        )
        for part, full in zip(some, whole, strict=True):
            assert torch.allclose(part, full * keep, rtol=1e-12)
