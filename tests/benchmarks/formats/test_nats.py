"""NAS-Bench-201 and NATS-Bench files, as their interfaces store them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.benchmarks.formats import writers
from tests.benchmarks.formats.writers import CELLS_201

from foresee.benchmarks import load
from foresee.benchmarks.formats import pickles
from foresee.benchmarks.formats.base import File
from foresee.errors import DataError, InputError


def in_process(path, space=None):
    """What the child does, without starting one."""
    return pickles.read(File(path), space)


def check_201(table, epochs, seeds):
    """The numbers `writers.results` puts in: accuracy 50 + number + seed / 1000, more by its place for each further set."""
    assert table.space == "nasbench201"
    assert table.architectures == CELLS_201
    for seed in seeds:
        base = np.arange(3) + 50 + seed / 1000
        for name, more in {
            "train_acc_cifar10": 0, "train_acc_cifar10_valid": 0, "val_acc_cifar10": 1, "test_acc_cifar10": 1,
            "test_acc_cifar10_valid": 2, "val_acc_cifar100": 1, "test_acc_cifar100": 2, "valtest_acc_cifar100": 3,
            "test_acc_imagenet16": 2,
        }.items():  # fmt: skip
            np.testing.assert_allclose(table.values(f"{name}@{epochs}", seed=seed), base + more, err_msg=name)
        np.testing.assert_allclose(table.values(f"train_loss_cifar10@{epochs}", seed=seed), 1 / base)
    assert table.target(f"val_loss_cifar100@{epochs}").direction == "lower"
    assert table.cost("params:cifar10").tolist() == [129306] * 3
    assert table.cost("macs:cifar100").tolist() == [15647360] * 3
    assert table.cost("latency:cifar10").tolist() == [0.02] * 3
    assert table.cost(f"train_time:cifar10@{epochs}").tolist() == [2 * epochs] * 3
    assert table.checked().architectures == table.architectures


@pytest.mark.parametrize("form", ["old torch", "torch"])
def test_nasbench201_file(tmp_path, form):
    """`full` and `less`, weights included, which are passed over."""
    weights = {"stem.0.weight": torch.zeros(4, 3)}
    plain = writers.api_file(CELLS_201, {"full": (200, (777, 888, 999)), "less": (12, (777,))}, weights=weights)
    path = tmp_path / "NAS-Bench-201-v1_1-096897.pth"
    torch.save(plain, path, _use_new_zipfile_serialization=form == "torch")
    table = in_process(path)
    check_201(table, 200, (777, 888, 999))
    check_201(table, 12, (777,))
    np.testing.assert_allclose(table.values("test_acc_cifar10"), np.arange(3) + 51.888)


def test_nats_folder_with_one_file_for_each_architecture(tmp_path):
    folder = tmp_path / "NATS-tss-v1_0-3ffb9-simple"
    folder.mkdir()
    writers.write_pbz2(folder / "meta.pickle.pbz2", {"meta_archs": list(CELLS_201)})
    for number in (2, 0, 1):  # whatever order the folder lists them in
        results = {"12": writers.results(number, "elsewhere", 12, (111, 777))}
        writers.write_pbz2(folder / f"{number:06d}.pickle.pbz2", results)
    check_201(in_process(folder), 12, (111, 777))
    with pytest.raises(DataError, match="a pickle"):
        load(folder)
    (folder / "meta.pickle.pbz2").unlink()
    with pytest.raises(DataError, match="comes twice"):
        in_process(folder)  # without the list, the texts inside count
    single = in_process(folder / "000002.pickle.pbz2")
    assert single.architectures == ("elsewhere",)


def test_nats_size_space(tmp_path):
    path = tmp_path / "NATS-sss.pickle.pbz2"
    hps = {"01": (1, (777,)), "12": (12, (777,)), "90": (90, (777,))}
    writers.write_pbz2(path, writers.api_file(("8:8:8:8:8", "64:64:64:64:64"), hps))
    table = in_process(path)
    assert table.space == "nats_size"
    assert {target.epochs for target in table.targets()} == {1, 12, 90}
    assert table.target("val_acc_cifar10").epochs == 90
    with pytest.raises(InputError, match="of nats_size, not of nasbench201"):
        in_process(path, "nasbench201")


@pytest.mark.parametrize(
    "damage",
    [
        lambda plain: plain["arch2infos"].update({9: {}}),
        lambda plain: plain["arch2infos"][0]["12"].pop("all_results"),
        lambda plain: plain["arch2infos"][0]["12"]["all_results"]["cifar10", 777].update(params="many"),
        lambda plain: plain["arch2infos"][0]["12"]["all_results"]["cifar10", 777].update(train_acc1es={0: 1.0}),
        lambda plain: plain["arch2infos"][0]["12"]["all_results"]["cifar10", 777]["train_acc1es"].update(
            {11: float("nan")}
        ),
        lambda plain: plain["arch2infos"][0]["12"]["all_results"]["cifar10", 777]["train_acc1es"].update(
            {11: torch.zeros(1)}
        ),
        lambda plain: plain.update(arch2infos={}),
    ],
)
def test_a_file_that_is_not_sound(tmp_path, damage):
    plain = writers.api_file(CELLS_201[:1], {"12": (12, (777,))})
    damage(plain)
    torch.save(plain, tmp_path / "t.pth")
    with pytest.raises(DataError, match=r"t\.pth"):
        in_process(tmp_path / "t.pth")
