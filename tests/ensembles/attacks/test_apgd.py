"""Steps that choose their own length."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, arrays, trained
from tests.ensembles.attacks.networks import linear

from foresee.ensembles.attacks import attacks
from foresee.ensembles.attacks.apgd import targeted_ratio
from foresee.errors import UnsupportedError

#: two of sixty samples
NOISE = 2 / 60 + 1e-9


@pytest.mark.parametrize(
    ("name", "others"),
    [("apgd_ce", ["art_apgd_ce", "torchattacks_apgd_ce"]), ("apgd_t", ["art_apgd_dlr", "torchattacks_apgd_t"])],
)
def test_as_much_is_left_as_by_other_codes(name, others):
    found = attacks[name](*trained(), eps=EPS, steps=50)
    for other in others:
        assert found.accuracy == pytest.approx(1 - arrays()[other].mean(), abs=NOISE), other


def test_it_does_what_plain_steps_do_at_least():
    plain = attacks["pgd"](*trained(), eps=EPS, step=EPS / 4, steps=40)
    for name in ("apgd_ce", "apgd_t"):
        assert attacks[name](*trained(), eps=EPS, steps=40).accuracy <= plain.accuracy + NOISE


def test_the_ratio_does_not_depend_on_the_scale_of_the_outputs():
    logits, labels = torch.randn(9, 5, generator=torch.Generator().manual_seed(0)), torch.arange(9) % 5
    goals = (labels + 1) % 5
    torch.testing.assert_close(targeted_ratio(logits, labels, goals), targeted_ratio(7 * logits + 3, labels, goals))


def test_targets_need_four_classes():
    with pytest.raises(UnsupportedError, match="3 classes, but its loss needs the 4"):
        attacks["apgd_t"](*linear(classes=3))


def test_broken_samples_pay_for_no_further_target():
    found = attacks["apgd_t"](*linear(), eps=0.3, steps=10)
    assert found.accuracy == 0
    assert int(found.gradients.max()) == 11
