"""TransNAS-Bench-101's file."""

from __future__ import annotations

import pytest
import torch
from tests.benchmarks.formats import writers

from foresee.benchmarks.formats import pickles
from foresee.benchmarks.formats.base import File
from foresee.errors import InputError


def in_process(path, space=None):
    """What the child does, without starting one."""
    return pickles.read(File(path), space)


def test_transnas(tmp_path):
    path = tmp_path / "transnas-bench_v10141024.pth"
    micro, macro = ["64-41414-0_12_323", "64-41414-1_02_333"], ["64-2311-basic"]
    torch.save(writers.transnas_file({"macro": macro, "micro": micro}), path)
    with pytest.raises(InputError, match="transnas_micro and transnas_macro, so say which with --space"):
        in_process(path)
    with pytest.raises(InputError, match="not darts"):
        in_process(path, "darts")
    assert list(in_process(path, "transnas_macro").checked().architectures) == macro
    table = in_process(path, "transnas_micro")
    assert list(table.checked().architectures) == micro
    assert table.values("val_top1_class_object").tolist() == [5.0, 6.0]
    assert table.values("best_val_top1_class_object").tolist() == [9.0, 10.0]
    assert table.values("best_test_loss_class_object").tolist() == [1.0, 2.0]
    assert table.values("best_val_neg_loss_room_layout").tolist() == [9.0, 10.0]
    assert table.target("best_val_neg_loss_room_layout").direction == "higher"
    assert table.target("train_loss_class_object").epochs == 3
    assert table.cost("params:class_object").tolist() == [20, 20]
    assert not [target for target in table.targets() if "time" in target.name]
