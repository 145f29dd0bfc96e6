"""What names of columns say."""

from __future__ import annotations

import pytest

from foresee.benchmarks.formats.naming import IMAGE_TASKS, TRANSNAS_TASKS, measured, parted, plain


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("test_acc_cifar100", ("test_acc", "cifar100")),
        ("test_acc_cifar10", ("test_acc", "cifar10")),
        ("test_acc_c100", ("test_acc", "cifar100")),
        ("CIFAR-10-test", ("test", "cifar10")),
        ("cifar10-valid", ("valid", "cifar10")),
        ("test_acc_in16", ("test_acc", "imagenet16")),
        ("ImageNet16-120", ("", "imagenet16")),
        ("begin16", ("begin16", "")),
        ("synflow", ("synflow", "")),
    ],
)
def test_tasks(column, expected):
    assert parted(column, IMAGE_TASKS) == expected


def test_a_name_keeps_its_length():
    assert plain("Test-Acc") == "test_acc"
    assert len(plain("İmage-16")) == len("İmage-16")  # its small letter is two signs
    assert parted("val_class_object", TRANSNAS_TASKS) == ("val", "class_object")


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("val_acc_108", ("val_acc", 108, None)),
        ("e12_test_acc", ("test_acc", 12, None)),
        ("test_acc3", ("test_acc", None, 2)),
        ("acc1", ("acc", None, 0)),
        ("acc_2", ("acc", None, 1)),
        ("val_acc_4", ("val_acc", 4, None)),
        ("mean_acc", ("acc", None, None)),
        ("val_accuracy", ("val_acc", None, None)),
        ("naslib_val", ("val_acc", None, None)),
        ("validation", ("val", None, None)),
        ("test_loss", ("test_loss", None, None)),
        ("params", None),
        ("accurate", None),
        ("test_acc_" + "9" * 30, None),
    ],
)
def test_measurements(stem, expected):
    assert measured(stem) == expected
