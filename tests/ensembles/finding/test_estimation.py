"""Estimated against true performance (Table 5.6)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy import stats
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding.estimation import agreement, estimation, spaced
from foresee.errors import InputError, UnknownNameError


def pool(seed: int, count: int = 6) -> torch.Tensor:
    return torch.randn(count, 40, 3, generator=torch.Generator().manual_seed(seed)).softmax(-1)


@pytest.mark.parametrize("by", ["error", "nll"])
def test_it_is_what_the_slow_way_finds(by):
    labels = torch.arange(40) % 3
    estimated, true = pool(0), pool(1) + pool(0)
    true = true / true.sum(-1, keepdim=True)
    for one in agreement(estimated, true, labels, sizes=(1, 3), by=by):
        both = []
        for said in (estimated.double().numpy(), true.double().numpy()):
            losses = []
            for group in itertools.combinations(range(6), one.size):
                mean = said[list(group)].mean(0)
                wrong = (mean.argmax(1) != labels.numpy()).mean()
                losses.append(wrong if by == "error" else -np.log(mean[np.arange(40), labels.numpy()]).mean())
            both.append(losses)
        assert one.ensembles == len(both[0])
        assert one.spearman == pytest.approx(stats.spearmanr(*both)[0])
        assert one.pearson == pytest.approx(stats.pearsonr(*both)[0])
        assert 0 <= one.agreement <= 1


def test_large_numbers_of_ensembles_are_drawn_and_small_pools_left_out():
    labels = torch.arange(40) % 3
    found = agreement(pool(0), pool(1), labels, sizes=(3, 7), most=9)
    assert [(one.size, one.ensembles) for one in found] == [(3, 9)]
    assert found == agreement(pool(0), pool(1), labels, sizes=(3,), most=9)


def test_equal_predictions_agree_wholly():
    found = agreement(pool(0), pool(0), torch.arange(40) % 3, sizes=(1, 2), by="nll")
    assert all(one.agreement == one.spearman == 1 for one in found)


def test_mistakes_are_said():
    with pytest.raises(InputError, match="shapes"):
        agreement(pool(0), pool(0, 5), torch.arange(40) % 3)
    with pytest.raises(UnknownNameError, match="nll"):
        agreement(pool(0), pool(0), torch.arange(40) % 3, by="loss")


def test_the_table_is_measured_and_kept(tmp_path):
    how = {**TINY, **NB201, "architectures": 3, "drawn": 5, "sizes": (1, 2)}
    found = estimation(data=images(), out=tmp_path, **how)
    assert [one.ensembles for one in found.rows] == [3, 3]
    assert list(found.estimated) == sorted(found.estimated)
    assert len(found.true) == 3
    assert (tmp_path / "estimation.json").is_file()
    assert str(estimation(data=images(), out=tmp_path, **how)) == str(found)
    assert "Spearman" in str(found)


def test_those_that_are_trained_are_spread():
    assert spaced(list("abcdefg"), 3) == ["a", "d", "g"]
    assert spaced(["a"], 3) == ["a"]
