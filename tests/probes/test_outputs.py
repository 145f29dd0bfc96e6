from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import InputError, UnsupportedError
from foresee.probes.outputs import logits_of, selecting

FEATURES, LOGITS = torch.zeros(2, 8), torch.ones(2, 3)


@dataclass
class Plain:
    logits: torch.Tensor
    hidden: torch.Tensor


@pytest.mark.parametrize(
    "output",
    [
        LOGITS,
        (FEATURES, LOGITS),
        [FEATURES, LOGITS],
        (LOGITS, None),
        (LOGITS, (FEATURES, FEATURES)),  # a recurrent layer: outputs, states
        {"logits": LOGITS, "hidden": FEATURES},
        OrderedDict(hidden=FEATURES, logits=LOGITS),
        Plain(LOGITS, FEATURES),
        namedtuple("Inception", ["logits", "aux"])(LOGITS, FEATURES),
    ],
)
def test_finds_the_logits(output):
    assert logits_of(output) is LOGITS


@pytest.mark.parametrize("output", [None, 3.0, {"hidden": FEATURES}, (), (None,), "logits"])
def test_says_what_it_expected(output):
    with pytest.raises(UnsupportedError, match=r"returns \w+: expected a tensor"):
        logits_of(output)


@pytest.mark.parametrize(
    "output",
    [
        (torch.tensor(0.3), LOGITS),  # Hugging Face with labels, without names
        (LOGITS, torch.tensor(0.3)),  # logits and loss, as small language models return them
        (torch.tensor(0.3), LOGITS, (FEATURES, FEATURES)),
        {"loss": torch.tensor(0.3), "logits": LOGITS},
        {"last_hidden_state": LOGITS, "pooler_output": FEATURES},
        {"pooler_output": LOGITS, "hidden_states": (FEATURES,)},
        OrderedDict(out=LOGITS, aux=FEATURES),  # segmentation
    ],
)
def test_a_loss_is_no_output_and_names_of_other_libraries_are_known(output):
    assert logits_of(output) is LOGITS


def test_a_loss_alone_is_still_a_tensor():
    loss = torch.tensor(0.3)
    assert logits_of((None, loss)) is loss


@pytest.mark.parametrize(
    ("outputs", "output"),
    [
        (lambda out: out["deep"][0], {"deep": [LOGITS], "logits": FEATURES}),
        ("mask", {"mask": LOGITS, "logits": FEATURES}),
        ("hidden", Plain(FEATURES, LOGITS)),
        (0, (LOGITS, FEATURES)),
        (-1, [FEATURES, LOGITS]),
        (1, OrderedDict(a=FEATURES, b=LOGITS)),
        (None, (FEATURES, LOGITS)),
    ],
)
def test_the_output_that_counts_can_be_said(outputs, output):
    assert selecting(outputs)(output) is LOGITS


@pytest.mark.parametrize(
    ("outputs", "output", "line"),
    [
        ("mask", {"logits": LOGITS, "aux": FEATURES}, "outputs='mask': the network returns dict with logits, aux"),
        ("shape", LOGITS, "outputs='shape': the network returns Tensor"),
        (2, (LOGITS, FEATURES), "outputs=2: the network returns tuple of 2"),
        (0, LOGITS, "outputs=0: the network returns Tensor"),
        ("states", {"states": [LOGITS]}, "'states' gives list, expected a tensor"),
        (lambda out: None, LOGITS, "the function gives NoneType, expected a tensor"),
    ],
)
def test_an_output_that_is_not_there_says_what_is(outputs, output, line):
    with pytest.raises(UnsupportedError, match=line):
        selecting(outputs)(output)


@pytest.mark.parametrize("outputs", [2.5, True, ["logits"], b"logits"])
def test_what_cannot_say_which_output_counts_is_refused_at_once(outputs):
    with pytest.raises(InputError, match="expected a function of what the network returns, a key or a number"):
        fs.score(nn.Linear(2, 2), torch.zeros(1, 2), outputs=outputs)


class Heads(nn.Module):
    """Two heads; `fine` has more outputs than `coarse`."""

    def __init__(self):
        super().__init__()
        self.body, self.coarse, self.fine = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.body(x).relu()
        return {"coarse": self.coarse(hidden), "fine": self.fine(hidden)}


class One(nn.Module):
    def __init__(self, heads, name):
        super().__init__()
        self.heads, self.name = heads, name

    def forward(self, x):
        return self.heads(x)[self.name]


EVERY = ["foresee", "snip", "jacov", "ntk_trace", "ntk_cond", "curvature", "synflow", "nasi_sum", "hnas", "grasp"]
EVERY += ["curvature:reference_sum", "fisher_rao"]


@pytest.mark.parametrize("name", EVERY)
def test_every_proxy_sees_the_output_that_counts(name):
    torch.manual_seed(0)
    heads = Heads()
    batch = (torch.randn(8, 4), torch.arange(8) % 5)
    settings = {"metric_batch": 6, "kappa_batch": 4} if name == "hnas" else None
    found = fs.score(heads, batch, name, outputs="fine", settings=settings)
    assert found.value == fs.score(One(heads, "fine"), batch, name, settings=settings).value
    assert found.ok
    assert fs.score(heads, batch, name, settings=settings).status == "unsupported"


def test_networks_are_ranked_by_the_output_that_counts():
    batch = (torch.randn(8, 4), torch.arange(8) % 5)
    found = fs.rank({"a": Heads(), "b": Heads()}, batch, "snip", outputs=lambda out: out["fine"])
    assert all(one["snip"].ok for one in found.scores.values())


def test_models_of_hugging_face_take_an_encoding_with_its_labels():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=3
    )
    ids = torch.randint(30, (6, 5), generator=torch.Generator().manual_seed(0))
    encoding = transformers.BatchEncoding(
        {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.arange(6) % 3}
    )
    torch.manual_seed(0)
    net = transformers.BertForSequenceClassification(config)
    found = fs.scores(net, encoding, ["foresee", "snip"])
    assert [one.status for one in found.values()] == ["ok", "ok"]
    named = {name: part for name, part in encoding.items() if name != "labels"}
    assert fs.score(net, (named, encoding["labels"]), "snip").value == found["snip"].value
    assert fs.score(net, encoding, "snip", outputs="logits").value == found["snip"].value
    plain = transformers.BertModel(config)
    assert fs.score(plain, encoding).ok  # the last hidden state
    assert fs.score(plain, encoding, outputs=lambda out: out.pooler_output).ok
