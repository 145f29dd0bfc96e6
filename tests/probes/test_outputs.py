from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import pytest
import torch

from foresee.errors import UnsupportedError
from foresee.probes.outputs import logits_of

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
