"""The networks of the benchmarks: sizes by hand, and the parameters that the tables themselves state."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.benchmarks import load, tasks
from foresee.errors import UnknownNameError
from foresee.seeds import stream
from foresee.spaces import get
from foresee.task import Task


@pytest.mark.parametrize(
    ("space", "name", "inputs", "outputs"),
    [
        ("nasbench201", "cifar10", (3, 32, 32), 10),
        ("nasbench201", "ImageNet16-120", (3, 16, 16), 120),
        ("nats_size", "cifar100", (3, 32, 32), 100),
        ("nasbench101", "", (3, 32, 32), 10),
        ("nasbench_macro", "cifar10", (3, 32, 32), 10),
        ("transnas_micro", "class_object", (3, 64, 64), 75),
        ("transnas_micro", "class_scene", (3, 64, 64), 47),
        ("transnas_micro", "jigsaw", (3, 64, 64), 1000),
        ("autoformer_tiny", "cifar100", (3, 224, 224), 100),
        ("mobile", "", (3, 224, 224), 1000),
    ],
)
def test_tasks_by_space_and_name(space, name, inputs, outputs):
    assert tasks.of(space, name)[0] == Task(inputs, outputs)


@pytest.mark.parametrize("space", tasks.NETWORKS)
def test_every_network_can_be_counted(space):
    for name in tasks.NETWORKS[space]:
        task, settings = tasks.of(space, name)
        made = get(space, **settings)
        assert made.counts(made.sample(stream(0, space)), task).params > 0


def test_unknown_names_are_answered_with_the_known():
    with pytest.raises(UnknownNameError, match="cifar100"):
        tasks.of("nasbench201", "cifar1000")
    with pytest.raises(UnknownNameError, match="--input"):
        tasks.of("mlp")


@pytest.mark.parametrize(
    ("file", "space", "column"),
    [
        ("nb201_cifar10.csv.gz", "nasbench201", "params:cifar10"),
        ("nb201_proxies_cifar10.csv.gz", "nasbench201", "params"),
        ("nb101.csv.gz", "nasbench101", "params"),
        ("nb_macro.csv.gz", "nasbench_macro", "params"),
    ],
)
def test_params_are_those_of_the_table(data_folder, file, space, column):
    table = load(data_folder / "nas" / file)
    task, settings = tasks.of(space, "cifar10")
    made = get(space, **settings)
    theirs = table.cost(column)
    places = np.random.default_rng(0).permutation(np.flatnonzero(np.isfinite(theirs)))[:300]
    ours = [made.counts(made.parse(table.architectures[place]), task).params for place in places]
    np.testing.assert_array_equal(ours, np.round(theirs[places]))


def test_macs_are_those_of_nasbench201(data_folder):
    table = load(data_folder / "nas" / "nb201_cifar10.csv.gz")
    task, _ = tasks.of("nasbench201", "cifar10")
    made = get("nasbench201")
    ours = [made.counts(made.parse(text), task).macs for text in table.architectures[:300]]
    np.testing.assert_array_equal(ours, table.cost("macs")[:300])


def test_darts_params_differ_from_nasbench301s_table_by_the_norms_of_operations_alone(data_folder):
    """Its counted networks leave out scale and shift of the batch norms inside operations; nothing else differs.

    A depthwise-separable operation of width C has two such norms, a dilated one and a skip that halves the map one each,
    with 2 C numbers. Of 8 cells the third and sixth reduce, so widths are 32, 32, 64, 64, 64, 128, 128, 128.
    """
    table = load(data_folder / "nas" / "nb301_proxies_725.csv.gz")
    task, settings = tasks.of("darts", "cifar10")
    made = get("darts", **settings)
    widths = {"normal": (32, 32, 64, 64, 128, 128), "reduce": (64, 128)}

    def norms(op, source, kind):
        halves = op == "skip_connect" and kind == "reduce" and source < 2
        return 2 if op.startswith("sep") else 1 if op.startswith("dil") or halves else 0

    for text, theirs in zip(table.architectures, np.round(table.cost("params")), strict=True):
        cell = made.parse(text)
        extra = sum(
            2 * width * norms(op, source, kind)
            for kind, own in widths.items()
            for width in own
            for op, source in cell[kind].edges
        )
        assert made.counts(cell, task).params - extra == theirs
