"""Networks as other people write them: what the default score sees of them, and that more layers are more to see."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import foresee as fs

TOKENS = torch.arange(16 * 24).reshape(16, 24) % 100
IMAGES = torch.randn(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def _hugging_face(kind, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers", reason="Hugging Face's transformers are not installed")
        config = {"GPT2LMHeadModel": "GPT2Config", "BertForSequenceClassification": "BertConfig"}.get(kind, "ViTConfig")
        return getattr(transformers, kind)(getattr(transformers, config)(**settings))


def gpt2(layers):
    return _hugging_face(
        "GPT2LMHeadModel", vocab_size=100, n_embd=32, n_layer=layers, n_head=2, bos_token_id=1, eos_token_id=1
    )


def bert(layers):
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    return _hugging_face("BertForSequenceClassification", vocab_size=100, num_hidden_layers=layers, **sizes)


def vit(layers):
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
    return _hugging_face("ViTForImageClassification", num_hidden_layers=layers, **sizes)


def transformer(layers):
    layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)
    return nn.Sequential(nn.Embedding(100, 32), nn.TransformerEncoder(layer, layers), nn.Linear(32, 5))


class Recurrent(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.body, self.head = (
            nn.Embedding(100, 16),
            nn.LSTM(16, 24, layers, batch_first=True),
            nn.Linear(24, 5),
        )

    def forward(self, x):
        return self.head(self.body(self.words(x))[0][:, -1])


class UNet(nn.Module):
    """Down with convolutions, up with transposed ones, joined at every height; activations are functions."""

    def __init__(self, depth):
        super().__init__()
        widths = [3, *(8 * 2**n for n in range(depth + 1))]
        self.down = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1) for i, o in itertools.pairwise(widths))
        pairs = list(zip(widths[2:], widths[1:], strict=False))
        self.up = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, stride=2) for i, o in pairs)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        seen = [F.relu(self.down[0](x))]
        for layer in self.down[1:]:
            seen.append(F.relu(layer(F.max_pool2d(seen[-1], 2))))
        x = seen.pop()
        for layer in reversed(self.up):
            x = F.relu(layer(x)) + seen.pop()
        return self.out(x)


STRANGERS = {
    "GPT-2": (gpt2, TOKENS),
    "BERT": (bert, TOKENS),
    "ViT": (vit, IMAGES),
    "torch's transformer": (transformer, TOKENS),
    "LSTM": (Recurrent, TOKENS),
    "U-Net": (UNet, IMAGES),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGERS)
def test_the_default_score_sees_all_layers(name):
    make, batch = STRANGERS[name]
    found = []
    for layers in (1, 2, 4):
        torch.manual_seed(0)
        found.append(fs.score(make(layers), batch))
    assert [one.status for one in found] == ["ok"] * 3
    assert all(one.coverage > 0.95 for one in found)
    values = [one.value for one in found]
    assert values == sorted(values), "more layers, more directions to learn in"


@pytest.mark.slow
def test_a_network_without_layers_between_scores_least():
    scores = []
    for layers in (0, 1):
        torch.manual_seed(0)
        scores.append(fs.score(gpt2(layers), TOKENS).value)
    assert scores[0] < scores[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGERS)
def test_every_other_proxy_gives_a_value_or_a_reason(name):
    make, batch = STRANGERS[name]
    proxies = ["snip", "synflow", "grad_norm", "naswot", "swap", "meco", "fisher", "jacov", "nasi", "params"]
    for one in fs.scores(make(1), batch, proxies).values():
        assert one.ok or one.status in ("unsupported", "partial"), one
        assert one.ok or one.reason
