"""NASRec networks: wiring against a plain version, the published counts."""

from __future__ import annotations

import pytest
import torch

from foresee.counting import count_params
from foresee.errors import InputError
from foresee.seeds import stream
from foresee.spaces.counting import measure
from foresee.spaces.nasrec import NASRecFull, NASRecSmall, avazu_task, criteo_task, kdd_task
from foresee.spaces.nasrec.architecture import BINARY_OPS
from foresee.spaces.nasrec.network import Embeddings
from foresee.task import Task

#: name -> space, parameters without embeddings, inputs of the last layer, million FLOPs (they are MACs) of the authors
PUBLISHED = {
    "Criteo_Small_best": (NASRecSmall, 1_784_165, 2_048, 2.20),
    "Criteo_Full_best": (NASRecFull, 2_222_323, 896, 1.45),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name):
    kind, params, last, millions = PUBLISHED[name]
    space, task = kind(), criteo_task(10)
    architecture = space.named[name]
    with torch.device("meta"):
        network = space.build(architecture, task)
    assert count_params(network) - 10 * 16 * 26 == params
    assert network.head.linear.in_features == last
    assert space.nonembedding_params(architecture, task) == params
    assert space.counts(architecture, task) == measure(lambda: space.build(architecture, task), task)
    assert space.counts(architecture, task).macs == pytest.approx(millions * 1e6, rel=0.01)


@pytest.mark.parametrize(("kind", "params"), [(NASRecSmall, 31_143_245), (NASRecFull, 171_529_127)])
def test_published_supernet_counts(kind, params):
    with torch.device("meta"):
        supernet = kind().one_shot(criteo_task(10))
    assert count_params(supernet) - 10 * 16 * 26 == params
    assert supernet.head.in_features == 2_176


def test_features_of_the_click_logs():
    tasks = (criteo_task(3), avazu_task(3), kdd_task(range(1, 11)))
    assert [(task.inputs, len(task.vocabularies)) for task in tasks] == [((13,), 26), ((1,), 23), ((3,), 10)]
    assert tasks[2].vocabularies[-1] == 10
    with pytest.raises(InputError, match="KDD has 10 sparse features: 2 vocabularies given"):
        kdd_task((4, 5))


def plain_forward(network, architecture, dense, sparse):
    """Every block in full, dead or not; inputs are joined before they are read."""
    raw = torch.stack([table(sparse[:, k]) for k, table in enumerate(network.embeddings.tables)], 1)
    denses, sparses = [dense], [raw]
    for block, module in zip(architecture.blocks, network.blocks, strict=True):
        tokens = torch.cat([sparses[read] for read in block.sparse_inputs], 1)
        if block.dense in BINARY_OPS:
            out = module.dense(denses[block.left], denses[block.right])
        else:
            joined = torch.cat([denses[read] for read in block.dense_inputs], 1)
            out = module.dense([joined], [tokens]) if block.dense == "dot" else module.dense([joined])
        made = module.sparse([tokens])
        if block.interact:
            made = torch.cat([made, module.interact(out)], 1)
        if block.fm:
            out = out + module.fm([made])
        denses.append(out)
        sparses.append(made)
    return network.head([torch.cat([denses[-1], sparses[-1].flatten(1)], 1)])


def test_wiring(task, clicks):
    space = NASRecFull(blocks=4, dense_widths=(16, 32), sparse_widths=(4, 8))
    for number in range(20):
        architecture = space.sample(stream(1, number))
        network = space.build(architecture, task)
        inputs = clicks(task)
        torch.testing.assert_close(network(*inputs), plain_forward(network, architecture, *inputs))


def test_dead_parts_are_not_computed(clicks):
    space, task = NASRecSmall(), criteo_task(5)
    architecture = space.named["Criteo_Small_best"]
    network, called = space.build(architecture, task), set()
    for name, module in network.named_modules():
        module.register_forward_hook(lambda *_, name=name: called.add(name))
    network(*clicks(task, 2))
    unused = space.unused_parameters(architecture)
    assert {"blocks.5.dense", "blocks.5.sparse", "blocks.2.sparse"} <= unused
    assert not unused & called
    alive = {f"blocks.{place}.{part}" for place in range(7) for part in ("dense", "sparse")} - unused
    assert alive <= called


def test_stages(task, clicks):
    space = NASRecFull(blocks=2, dense_widths=(16,), sparse_widths=(4,))
    network = space.build(space.parse("linear2d:16@0 linear3d:4@0 interact / sum:16@0 linear3d:4@0,1 pair@0,1"), task)
    maps = network.stages(*clicks(task))
    assert [stage.shape for stage in maps] == [(4, 5 + 3 * 16), (4, 16 + 12 * 16), (4, 16 + 4 * 16)]
    torch.testing.assert_close(network.head([maps[-1]]), network(*clicks(task)))


def test_embeddings_are_xavier_normal():
    torch.manual_seed(0)
    table = Embeddings([2000]).tables[0].weight
    assert table.std().item() == pytest.approx((2 / 2016) ** 0.5, rel=0.03)


@pytest.mark.parametrize("task", [Task((13,), 1), Task((3, 32, 32), 10)])
def test_other_tasks_are_refused(task):
    space = NASRecSmall()
    one = space.sample(stream(0))
    for attempt in (space.build, space.counts, space.nonembedding_params):
        with pytest.raises(InputError, match="nasrec_small takes click logs: the task has no vocabularies"):
            attempt(one, task)
    with pytest.raises(InputError, match="nasrec_small takes click logs"):
        space.one_shot(task)


def test_several_outputs(clicks):
    task, space = Task((2,), 3, vocabularies=(4,)), NASRecFull(blocks=2)
    assert space.build(space.sample(stream(0)), task)(*clicks(task, 5)).shape == (5, 3)
