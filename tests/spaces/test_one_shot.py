"""Tools of one-shot networks: storage that is shared, weights that are refused."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresee.errors import InputError
from foresee.spaces.one_shot import check_vectors, share, share_corners, tensors


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
