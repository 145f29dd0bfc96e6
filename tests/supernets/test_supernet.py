"""Supernets: trained in every space, gone on with exactly, inherited from bit for bit."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch
from tests.one_shots import CASES

from foresee.data.arrays import Arrays
from foresee.devices import threads
from foresee.errors import DataError, InputError, RunError, SettingsMismatchError, UnsupportedError
from foresee.seeds import derive, stream
from foresee.supernets import evaluating
from foresee.supernets.sampling import usual
from foresee.supernets.supernet import Supernet
from foresee.training.recipe import Recipe

RECIPE = Recipe(epochs=2, batch=8, lr=0.05, clip=5.0)
#: spaces whose networks compute bit for bit what their path computes
EXACT = [name for name in CASES if not name.startswith("nasrec")]


def made(name, **more):
    case = CASES[name]
    return Supernet(case.space(), case.task, **case.form, **more)


def state(supernet):
    return {key: value.clone() for key, value in supernet.one_shot.state_dict().items()}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


def lively(supernet):
    """Weights, norms and statistics that hide nothing behind ones and zeros."""
    with torch.no_grad():
        for place, parameter in enumerate(supernet.one_shot.parameters()):
            draws = torch.Generator().manual_seed(place)
            parameter += 0.1 * torch.randn(parameter.shape, generator=draws)
    return supernet


class StopError(Exception):
    pass


class Stopping:
    """A sampler that comes to an end in a certain step."""

    def __init__(self, sampler, at):
        self.sampler, self.at = sampler, at
        self.facts = sampler.facts

    def __call__(self, one_shot, step):
        if step == self.at:
            raise StopError
        self.sampler(one_shot, step)


@pytest.mark.parametrize("name", CASES)
def test_it_is_trained_and_gone_on_with(name, tmp_path):
    """Six steps at once, and six of which three were another process's, with a checkpoint in between."""
    case = CASES[name]
    data = case.data(24)
    before = state(made(name))
    whole = made(name).train(data, recipe=RECIPE)
    assert whole.steps == 6
    assert len(whole.losses) == 6
    assert all(torch.isfinite(value).all() for value in state(whole).values())
    assert not same(before, state(whole))

    stops = Stopping(usual(case.space(), derive(0, "paths"), 3), at=3)
    with pytest.raises(StopError):
        made(name).train(data, recipe=RECIPE, sampler=stops, out=tmp_path, between=0)
    resumed = made(name).train(data, recipe=RECIPE, out=tmp_path, resume=True, between=0)
    assert resumed.losses == whole.losses
    assert same(state(resumed), state(whole))
    loaded = Supernet.load(tmp_path)
    assert same(state(loaded), state(whole))
    assert (loaded.steps, loaded.losses) == (6, whole.losses)
    assert loaded.space.reference == case.space().reference


CHILD = """
import sys
import torch
from tests.one_shots import CASES
torch.set_num_threads(1)
from tests.supernets.test_supernet import RECIPE, made
name, out = sys.argv[1:]
data = CASES[name].data(24)
made(name).train(data, recipe=RECIPE.but(epochs=40), out=out, between=0, resume=True, observers=[
    lambda event: print(event.done, flush=True)])
"""


@pytest.mark.parametrize("name", ["nasbench201", "nasrec_full"])
def test_killed_and_gone_on_with(name, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, name, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd="."
    )
    seen = child.stdout.readline()
    time.sleep(0.05)
    child.kill()
    child.wait()
    assert 0 < int(seen) < 120
    data, recipe = CASES[name].data(24), RECIPE.but(epochs=40)
    with threads(1):  # as the child had: sums of several threads are rounded otherwise
        resumed = made(name).train(data, recipe=recipe, out=tmp_path, resume=True)
        whole = made(name).train(data, recipe=recipe)
    assert resumed.losses == whole.losses
    assert same(state(resumed), state(whole))


@pytest.mark.parametrize("name", ["nasbench1shot1_2", "nats_size", "nasrec_full"])
def test_fewer_digits(name):
    found = made(name).train(CASES[name].data(16), recipe=RECIPE.but(epochs=1, precision="bfloat16"))
    plain = made(name).train(CASES[name].data(16), recipe=RECIPE.but(epochs=1))
    assert all(value.dtype == plain.one_shot.state_dict()[key].dtype for key, value in state(found).items())
    assert found.losses == pytest.approx(plain.losses, rel=0.1)
    assert found.losses != plain.losses
    assert torch.backends.mkldnn.enabled  # torch may have turned it off for good: see `one_dnn_kept`


# -- inheriting -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", EXACT)
def test_what_is_inherited_is_the_path_bit_for_bit(name, training):
    case = CASES[name]
    supernet = lively(made(name))
    batch = case.batch()
    for number in range(4):
        architecture = case.space().sample(stream(number))
        network = supernet.inherit(architecture).train(training)
        supernet.one_shot.train(training)
        with torch.no_grad():
            supernet.one_shot.select(architecture)
            expected = batch.call(supernet.one_shot)
            assert torch.equal(batch.call(network), expected)


@pytest.mark.parametrize("name", CASES)
def test_storage_is_shared(name):
    case = CASES[name]
    supernet = made(name)
    places = {one.untyped_storage().data_ptr() for one in supernet.one_shot.parameters()}
    network = supernet.inherit(case.space().sample(stream(1)))
    assert {one.untyped_storage().data_ptr() for one in network.parameters()} <= places
    supernet.train(case.data(16), recipe=RECIPE, steps=2)
    assert {one.untyped_storage().data_ptr() for one in network.parameters()} <= places
    text = str(case.space().sample(stream(1)))
    assert len(list(supernet.inherit(text).parameters())) == len(list(network.parameters()))


def test_the_layer_norms_of_nasrec():
    """Equal at the greatest widths; at others the supernet normalises over features that the network does not have."""
    case = CASES["nasrec_small"]
    supernet, batch = lively(made("nasrec_small")), case.batch()
    supernet.one_shot.double()
    wide = case.space().parse("linear2d:16@0 linear3d:5@0 / linear2d:16@0,1 linear3d:5@0,1")
    narrow = replace(wide, blocks=tuple(replace(one, dense_width=8) for one in wide.blocks))
    dense, sparse = batch.inputs
    found = {}
    for key, one in (("wide", wide), ("narrow", narrow)):
        supernet.one_shot.select(one)
        with torch.no_grad():
            difference = supernet.inherit(one)(dense.double(), sparse) - supernet.one_shot(dense.double(), sparse)
        found[key] = difference.abs().max().item()
    assert found["wide"] < 1e-12
    assert found["narrow"] > 1e-3


# -- evaluating -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_evaluating_leaves_the_supernet_as_it_is(name):
    case = CASES[name]
    data = case.data(24)
    supernet = made(name).train(data, recipe=RECIPE, steps=4)
    before = state(supernet)
    found = supernet.evaluate(case.space().sample(stream(1)), data)
    assert found.samples == 24
    assert 0 <= found.accuracy <= 1
    assert found.loss > 0
    assert same(before, state(supernet))


def test_training_helps():
    """A little training over all paths, and each inherited network can tell the classes that it could not."""
    case = CASES["nasbench201"]
    data = case.data(96)
    cell = "|nor_conv_3x3~0|+|skip_connect~0|nor_conv_3x3~1|+|skip_connect~0|none~1|nor_conv_1x1~2|"
    cold = made("nasbench201").evaluate(cell, data)
    warm = made("nasbench201").train(data, recipe=RECIPE.but(epochs=12)).evaluate(cell, data)
    assert warm.accuracy > max(0.6, cold.accuracy)
    assert warm.loss < cold.loss


def test_statistics_are_those_of_the_network_itself():
    """Without a new estimate, the batch norms would have means over many paths."""
    case = CASES["nasbench201"]
    data = case.data(96)
    supernet = made("nasbench201").train(data, recipe=RECIPE)
    cell = case.space().sample(stream(3))
    stale = evaluating.judge(supernet.inherit(cell), data)
    assert stale != supernet.evaluate(cell, data)


# -- mistakes -------------------------------------------------------------------------------------------------------------
def test_a_folder_that_is_taken(tmp_path):
    data = CASES["nasbench201"].data(16)
    made("nasbench201").train(data, recipe=RECIPE, out=tmp_path)
    with pytest.raises(RunError, match="holds a checkpoint 'supernet' already"):
        made("nasbench201").train(data, recipe=RECIPE, out=tmp_path)
    with pytest.raises(
        SettingsMismatchError, match=r"recipe\.lr: 0\.01 here, 0\.05 in the run; .*weights_seed: 1 here"
    ):
        made("nasbench201", seed=1).train(data, recipe=RECIPE.but(lr=0.01), out=tmp_path, resume=True)
    again = made("nasbench201").train(data, recipe=RECIPE, out=tmp_path, resume=True)
    assert same(state(again), state(Supernet.load(tmp_path)))
    with pytest.raises(RunError, match="another sha256"):
        Supernet.load(tmp_path, digest="0" * 64)


def test_what_is_asked_wrongly():
    data = CASES["nasbench201"].data(16)
    with pytest.raises(InputError, match="steps or share"):
        made("nasbench201").train(data, steps=1, share=0.5, recipe=RECIPE)
    with pytest.raises(InputError, match="steps = -1"):
        made("nasbench201").train(data, steps=-1, recipe=RECIPE)
    with pytest.raises(InputError, match=r"has no .*wdith"):
        Supernet("darts", CASES["darts"].task, wdith=3)
    with pytest.raises(UnsupportedError, match="no one-shot network"):
        Supernet("resnet", CASES["darts"].task)


def test_labels_are_needed():
    with pytest.raises(DataError, match="labels"):
        made("nasbench201").train(Arrays(torch.randn(16, 3, 8, 8)), recipe=RECIPE)


def test_a_share_is_of_all_that_would_be_seen():
    data = CASES["nasbench201"].data(24)
    assert made("nasbench201").train(data, share=0.5, recipe=RECIPE).steps == 3
    assert made("nasbench201").train(data, share=0.0, recipe=RECIPE).steps == 0
    seen = []
    made("nasbench201").train(data, share=0.34, recipe=RECIPE, observers=[seen.append])
    assert [(one.kind, one.done, one.total) for one in seen] == [("step", n, 3) for n in (1, 2, 3)]
    assert {"name", "step", "steps", "replayed", "loss", "rate"} <= seen[0].details.keys()
