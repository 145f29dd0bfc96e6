"""Pictures of networks: what is a box, where data flows, what is folded."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from foresee.counting import count_params
from foresee.spaces import own
from foresee.spaces.own.drawing import READABLE, drawing_of
from foresee.task import Task


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width))

    def forward(self, inputs):
        return F.relu(inputs + self.inner(inputs))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, inputs):
        batch, tokens, width = inputs.shape
        parts = self.qkv(inputs).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 2)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, inputs):
        inputs = inputs + self.attention(self.first(inputs))
        return inputs + self.mlp(self.second(inputs))


class Transformer(nn.Module):
    def __init__(self, width=8, depth=5):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(1, 6, width))
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 3)

    def forward(self, inputs):
        inputs = inputs + self.position
        for block in self.blocks:
            inputs = block(inputs)
        return self.head(inputs.mean(1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 4, 2, stride=2), nn.Conv2d(8, 2, 1)

    def forward(self, inputs):
        kept = self.one(inputs)
        inner = self.two(F.max_pool2d(kept, 2))
        return self.last(torch.cat([kept, self.up(inner)], 1))


def into(drawing, title):
    """Titles of the boxes that a box reads."""
    [place] = [place for place, box in enumerate(drawing.boxes) if box.title == title]
    return [drawing.boxes[start].title for start, end in drawing.lines if end == place]


def all_params(drawing):
    return sum(box.params * drawing.times(place) for place, box in enumerate(drawing.boxes))


def test_residual_blocks_are_joined_and_folded():
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), *[Residual(4) for _ in range(4)], nn.Flatten(), nn.Linear(256, 2)
    )
    drawing = drawing_of(network, torch.zeros(1, 3, 8, 8))
    assert [(box.title, box.after) for box in drawing.boxes] == [
        ("input", ()),
        ("Conv2d 3×3, 3 → 4", ()),
        ("Conv2d 3×3, 4 → 4", ("BatchNorm2d",)),
        ("+", ("relu",)),
        ("Linear 256 → 2", ()),
        ("output", ()),
    ]
    assert [(one.first, one.count, one.times) for one in drawing.repeats] == [(2, 2, 4)]
    assert drawing.lines == ((0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5))
    assert [box.shape for box in drawing.boxes][1:4] == [(4, 8, 8)] * 3
    assert all_params(drawing) == count_params(network)


def test_a_transformer_shows_attention_weights_and_repeats():
    network = Transformer()
    drawing = drawing_of(network, torch.zeros(1, 6, 8))
    titles = [box.title for box in drawing.boxes]
    assert titles == [
        "input", "+ position", "Linear 8 → 24", "Linear 8 → 8", "+", "Linear 8 → 16", "Linear 16 → 8", "+",
        "Linear 8 → 3", "output",
    ]  # fmt: skip
    assert [(one.count, one.times) for one in drawing.repeats] == [(6, 5)]
    assert (drawing.boxes[2].before, drawing.boxes[2].after) == (("LayerNorm",), ("attention",))
    assert drawing.boxes[8].before == ("mean",)
    assert all_params(drawing) == count_params(network)


def test_a_u_net_is_joined_over_far():
    drawing = drawing_of(UNet(), torch.zeros(1, 3, 8, 8))
    assert into(drawing, "concat") == ["Conv2d 3×3, 3 → 4", "ConvTranspose2d 2×2, 8 → 4, stride 2"]
    assert into(drawing, "Conv2d 3×3, 4 → 8") == ["Conv2d 3×3, 3 → 4"]
    assert next(box for box in drawing.boxes if box.title == "Conv2d 3×3, 4 → 8").before == ("max pool",)
    assert not drawing.repeats


def test_layers_in_functional_form_and_shared_ones():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.shared = nn.Parameter(torch.ones(5, 4)), nn.Linear(5, 5)

        def forward(self, inputs):
            inputs = F.linear(inputs, self.weight)
            return self.shared(self.shared(inputs) * 2)

    drawing = drawing_of(Odd(), torch.zeros(2, 4))
    assert [(box.title, box.params) for box in drawing.boxes[1:-1]] == [
        ("linear", 20), ("Linear 5 → 5", 30), ("Linear 5 → 5, shared weights", 0),
    ]  # fmt: skip


def test_torch_layers_are_one_box_each():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    network = nn.Sequential(nn.TransformerEncoder(layer, 3), nn.LSTM(8, 4, 2))
    drawing = drawing_of(network, torch.zeros(1, 5, 8))
    assert [box.title for box in drawing.boxes] == [
        "input", "TransformerEncoderLayer 2 heads", "LSTM 8 → 4, 2 layers", "output",
    ]  # fmt: skip
    assert drawing.times(1) == 3


def test_what_is_too_large_to_read_is_drawn_in_parts():
    widths = list(range(2, 32))
    network = nn.Sequential(
        *[nn.Sequential(nn.Linear(a, 3), nn.ReLU(), nn.Linear(3, a + 1)) for a in widths[:20]], nn.Linear(22, 2)
    )
    drawing = drawing_of(network, torch.zeros(1, 2))
    assert len(drawing.boxes) == 23 <= READABLE
    assert drawing.boxes[1].title == "Sequential of 2 Linear"
    assert all_params(drawing) == count_params(network)


def test_the_network_is_left_as_it_was():
    network = Residual(3).train()
    drawing_of(network, torch.zeros(1, 3, 4, 4))
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in network.modules())


def test_an_own_space_draws_its_networks_without_weights():
    def huge(pick):
        return nn.Sequential(nn.Linear(10**6, pick("width", [10**6])), nn.ReLU())  # 4 TB

    space = own(huge)
    drawing = space.drawing(space.parse('{"width":1000000}'), Task((10**6,), 2))
    assert drawing.boxes[1].params == 10**12 + 10**6

    def reads(pick):
        class Net(nn.Module):
            def forward(self, inputs):
                return inputs * 2 if float(inputs.sum()) < 1 else inputs

        return nn.Sequential(nn.Linear(4, 2), Net())

    space = own(reads)
    assert [box.title for box in space.drawing(space.parse("{}"), Task((4,), 2)).boxes][1] == "Linear 4 → 2"
