"""AutoFormer subnets with accuracies."""

from __future__ import annotations

import json

import numpy as np
import pytest

from foresee.benchmarks import load
from foresee.errors import DataError, InputError


def subnet(width=192, **numbers):
    heads = [3 if width < 300 else 5] * 12
    return {"arch": {"hidden_dim": width, "mlp_ratio": [3.5] * 12, "depth": 12, "num_heads": heads}, **numbers}


def test_autoformer(write_json):
    path = write_json([subnet(c100_base_acc=68.6, c100_kd_acc=76.0, imagenet_super_acc=74.6, params=5.5)])
    table = load(path)
    assert table.space == "autoformer_tiny"
    assert table.checked().architectures == table.architectures
    assert table.values("c100_kd_acc").tolist() == table.values("kd_acc_cifar100").tolist() == [76.0]
    assert table.values("imagenet_super_acc").tolist() == [74.6]
    assert table.cost("params").tolist() == [5.5]
    assert load(path, space="autoformer_base").space == "autoformer_base"
    with pytest.raises(InputError, match="AutoFormer subnets, not architectures of darts"):
        load(path, space="darts")
    assert load(write_json([subnet(320, c100_kd_acc=1.0)])).space == "autoformer_small"
    with pytest.raises(DataError, match="no AutoFormer space offers"):
        load(write_json([subnet(7, c100_kd_acc=1.0)]))
    with pytest.raises(DataError, match="comes twice"):
        load(write_json([subnet(c100_kd_acc=1.0)] * 2))


def test_null_is_a_missing_accuracy(write_json):
    table = load(write_json([subnet(c100_kd_acc=None, flower_kd_acc=2.0), subnet(216, c100_kd_acc=1.0)]))
    np.testing.assert_array_equal(table.values("c100_kd_acc"), [np.nan, 1.0])
    np.testing.assert_array_equal(table.values("flower_kd_acc"), [2.0, np.nan])
    assert table.target("kd_acc_cifar100").n == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (subnet(216, c100_kd_acc="good"), "entry 2, c100_kd_acc: 'good', expected a number, or null"),
        ({"c100_kd_acc": 1.0}, "entry 2: .* expected an object with arch"),
        ({"arch": {"mlp_ratio": [3.5], "depth": 12}}, "entry 2, arch: AutoFormer configuration: no hidden_dim"),
        ({"arch": {**subnet()["arch"], "depth": 13}}, "entry 2, arch: AutoFormer configuration: mlp_ratio"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(write_json, entry, message):
    with pytest.raises(DataError, match=message):
        load(write_json([subnet(c100_kd_acc=1.0), entry]))


def test_the_real_file_of_autoformer(data_folder):
    path = data_folder / "nas" / "vit_gt_autoformer.json"
    table, plain = load(path), json.loads(path.read_text())
    assert (table.space, len(table)) == ("autoformer_tiny", 100)
    for name in plain[0].keys() - {"arch"}:
        np.testing.assert_array_equal(table.values(name), [one[name] for one in plain])
