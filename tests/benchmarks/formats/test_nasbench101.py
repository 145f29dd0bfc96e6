"""NAS-Bench-101's record file, whole and damaged."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from tests.benchmarks.formats import writers

from foresee.benchmarks import load
from foresee.errors import DataError, InputError

MATRIX, OPS = "011001000", "input,conv3x3-bn-relu,output"
OTHER = "0100" + "0010" + "0001" + "0000"


def benchmark(epochs=(4, 12, 36, 108)):
    """Two modules, three repeats at each of the epochs."""
    for key, matrix, ops, base in (
        ("aa", MATRIX, OPS, 0.8),
        ("bb", OTHER, "input,conv1x1-bn-relu,maxpool3x3,output", 0.7),
    ):
        for budget in epochs:
            for repeat in range(3):
                accuracy = base + repeat / 100 - 1 / (budget + 10)
                final = (10.0 * budget + repeat, accuracy + 0.01, accuracy, accuracy - 0.01)
                yield writers.record_101(key, budget, matrix, ops, 1000, final), accuracy


@pytest.fixture
def write(tmp_path):
    def make(contents, name="nasbench.tfrecord"):
        (tmp_path / name).write_bytes(b"".join(contents))
        return tmp_path / name

    return make


@pytest.mark.parametrize("epochs", [(4, 12, 36, 108), (108,)])
@pytest.mark.parametrize("name", ["nasbench_full.tfrecord", "renamed"])
def test_nasbench101(write, epochs, name):
    made = list(benchmark(epochs))
    table = load(write([writers.framed(record) for record, _ in made], name))
    assert table.space == "nasbench101"
    assert table.architectures == ("conv3x3@0+output@0,1", "conv1x1@0+maxpool3x3@1+output@2")
    assert {target.epochs for target in table.targets()} == set(epochs)
    truth = iter(made)
    for place in range(2):
        for budget in epochs:
            accuracies = [100 * next(truth)[1] for _ in range(3)]
            for seed, accuracy in enumerate(accuracies):
                assert table.values(f"val_acc@{budget}", seed=seed)[place] == pytest.approx(accuracy)
                assert table.values(f"test_acc@{budget}", seed=seed)[place] == pytest.approx(accuracy - 1)
                assert table.values(f"train_acc@{budget}", seed=seed)[place] == pytest.approx(accuracy + 1)
            assert table.values(f"val_acc_cifar10@{budget}")[place] == pytest.approx(np.mean(accuracies))
            assert table.cost(f"train_time:{budget}")[place] == pytest.approx(10 * budget + 1)
    assert table.cost("params").tolist() == [1000, 1000]
    assert table.checked().architectures == table.architectures


def test_hostile_files(write):
    good = [writers.framed(record) for record, _ in benchmark((108,))]

    def refused(content, message):
        with pytest.raises(DataError, match=message):
            load(write([content]))

    whole = b"".join(good)
    refused(whole[:-7], "ends in the middle of record 5")
    refused(whole + b"\1\2\3", "ends in the middle of the header of record 6")
    flipped = bytearray(whole)
    flipped[len(good[0]) + 40] ^= 1
    refused(bytes(flipped), "content of record 1 does not match its checksum")
    flipped = bytearray(whole)
    flipped[9] ^= 1
    refused(bytes(flipped), "length of record 0 does not match its checksum")
    huge = struct.pack("<Q", 2**60)
    refused(good[0] + huge + struct.pack("<I", writers.masked(huge)), "record 1 claims 1,152,921,504,606,846,976 bytes")
    refused(b"", "no architecture in it")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"not json", "record 0: not one of NAS-Bench-101's"),
        (b"[1, 2]", "record 0: not one"),
        (json.dumps(["a", 108, MATRIX, OPS, "!!"]).encode(), "record 0: not one"),
        (json.dumps(["a", 108, MATRIX, OPS, ""]).encode(), "no parameters or no evaluation"),
        (writers.record_101("a", 7, MATRIX, OPS, 1, (1.0, 0.5, 0.5, 0.5)), "7 epochs, expected one of"),
        (writers.record_101("a", 108, "0110", OPS, 1, (1.0, 0.5, 0.5, 0.5)), "matrix '0110'"),
        (writers.record_101("a", 108, MATRIX, "input,conv9x9,output", 1, (1.0, 0.5, 0.5, 0.5)), "conv9x9"),
        (writers.record_101("a", 108, MATRIX, OPS, 1, (1.0, 0.5)), "no field 4"),
        (writers.record_101("a", 108, MATRIX, OPS, 1, (1.0, 0.5, float("nan"), 0.5)), "val_acc of .* is nan"),
    ],
)
def test_a_record_that_is_none_of_the_benchmark(write, record, message):
    with pytest.raises(DataError, match=message):
        load(write([writers.framed(record)]))


def test_another_space_is_refused(write):
    with pytest.raises(InputError, match="of nasbench101, not of darts"):
        load(write([writers.framed(record) for record, _ in benchmark((108,))]), space="darts")
