"""Steps: what torch would do by hand, going on exactly, what is no number, and who else is left alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples
from torch import nn
from torch.nn import functional as F

from foresee.batch import Batch
from foresee.errors import DataError, InputError, RunError, TrainingError
from foresee.spaces import get
from foresee.task import Task
from foresee.training.checkpoints import read, write
from foresee.training.recipe import OPTIMISERS, SCHEDULES, Recipe
from foresee.training.schedules import rate
from foresee.training.steps import Training, load_weights


def small() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))


def batches(count: int) -> list[Batch]:
    draws = torch.Generator().manual_seed(1)
    return [Batch(torch.randn(8, 6, generator=draws), torch.randint(0, 3, (8,), generator=draws)) for _ in range(count)]


def test_the_same_as_by_hand() -> None:
    recipe = Recipe(lr=0.1, weight_decay=0.01, label_smoothing=0.1, clip=0.5, warmup_epochs=1)
    torch.manual_seed(0)
    ours, theirs = nn.Linear(6, 3), nn.Linear(6, 3)
    theirs.load_state_dict(ours.state_dict())
    training = Training(ours, recipe, steps=6, per_epoch=2)
    made = torch.optim.SGD(theirs.parameters(), lr=1, momentum=0.9, weight_decay=0.01)
    for number, batch in enumerate(batches(6)):
        found = training.step(batch)
        made.param_groups[0]["lr"] = rate(recipe, number, 6, 2)
        outputs = theirs(batch.inputs)
        loss = F.cross_entropy(outputs, batch.labels, label_smoothing=0.1)
        made.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        made.step()
        assert found.loss.item() == loss.item()
        assert found.correct.item() == (outputs.argmax(1) == batch.labels).sum()
        assert (found.samples, found.rate) == (8, made.param_groups[0]["lr"])
    assert torch.equal(ours.weight, theirs.weight)


@pytest.mark.parametrize("recipe", [Recipe(lr=0.1), Recipe(optimiser="adamw", lr=0.01, precision="bfloat16")])
def test_going_on_is_bitwise(tmp_path, recipe: Recipe) -> None:  # type: ignore[no-untyped-def]
    parts = batches(6)
    whole = Training(small(), recipe, steps=6, per_epoch=3, seed=5)
    losses = [whole.step(batch).loss for batch in parts]
    first = Training(small(), recipe, steps=6, per_epoch=3, seed=5)
    for batch in parts[:2]:
        first.step(batch)
    write(tmp_path, "last", first.tensors(), first.facts())
    second = Training(small(), recipe, steps=6, per_epoch=3, seed=5)
    second.restore(*read(tmp_path, "last"))
    torch.manual_seed(77)  # the state of the caller has no say
    assert torch.equal(torch.stack([second.step(batch).loss for batch in parts[2:]]), torch.stack(losses[2:]))
    assert all(torch.equal(second.tensors()[key], value) for key, value in whole.tensors().items())


def test_random_states_of_the_caller_stay() -> None:
    training = Training(small(), Recipe(), steps=2, per_epoch=2)
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    training.step(batches(1)[0])
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1] == random.getstate()
    assert (states[2] == np.random.get_state()[1]).all()  # noqa: NPY002


def test_seeds_draw_dropout() -> None:
    def loss(seed: int) -> float:
        return float(Training(small(), Recipe(), steps=1, per_epoch=1, seed=seed).step(batches(1)[0]).loss)

    assert loss(1) == loss(1) != loss(2)


def test_a_loss_that_is_no_number_stops() -> None:
    network = nn.Linear(6, 3)
    training = Training(network, Recipe(lr=1e38), steps=9, per_epoch=3)
    with pytest.raises(TrainingError, match=r"the loss is (nan|inf) at step [1-9] \(epoch \d\).*smaller lr"):
        list(map(training.step, batches(9)))


def test_a_bad_step_changes_no_weight() -> None:
    network = nn.Linear(6, 3)
    training = Training(network, Recipe(), steps=9, per_epoch=3)
    training.step(batches(1)[0])
    before = network.weight.clone()
    with torch.no_grad():
        network.bias.fill_(float("nan"))
    with pytest.raises(TrainingError, match="nan at step 1"):
        training.step(batches(1)[0])
    assert torch.equal(network.weight, before)


def test_labels_are_needed() -> None:
    with pytest.raises(DataError, match="no labels"):
        Training(nn.Linear(6, 3), Recipe(), steps=1, per_epoch=1).step(Batch(torch.ones(2, 6)))


def test_a_teacher_is_learnt_from() -> None:
    batch = batches(1)[0]
    torch.manual_seed(0)
    network, teacher = nn.Linear(6, 3), nn.Linear(6, 3)
    teacher.weight.data.mul_(5)
    recipe = Recipe(lr=0.5, distil=1.0, temperature=2.0)
    training = Training(network, recipe, steps=300, per_epoch=300, teacher=teacher)
    found = [float(training.step(batch).loss) for _ in range(300)]
    assert found[-1] < 0.02 * found[0]
    assert torch.equal(network(batch.inputs).argmax(1), teacher(batch.inputs).argmax(1))


def test_auxiliary_head_and_dropped_paths_of_darts() -> None:
    space = get("darts", channels=4, layers=3, auxiliary=True)
    task = Task((3, 32, 32), 5)
    network = space.build(space.sample(random.Random(0)), task)
    assert network.auxiliary is not None
    recipe = Recipe(epochs=2, auxiliary=0.4, drop_path=0.2, lr=0.01)
    training = Training(network, recipe, steps=2, per_epoch=1, task=task)
    batch = Batch(torch.randn(2, 3, 32, 32), torch.tensor([0, 4]))
    head = [one.clone() for one in network.auxiliary.parameters()]
    training.step(batch)
    rates = {module.probability for module in network.modules() if type(module).__name__ == "DropPath"}
    assert rates == {0.0}
    assert any(not torch.equal(a, b) for a, b in zip(head, network.auxiliary.parameters(), strict=True))
    training.step(batch)
    assert {m.probability for m in network.modules() if type(m).__name__ == "DropPath"} == {0.1}


def test_channels_last_and_few_digits_learn_too() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    recipe = Recipe(lr=0.1, precision="bfloat16", channels_last=True)
    training = Training(network, recipe, steps=20, per_epoch=20)
    batch = Batch(torch.stack([torch.zeros(3, 6, 6), torch.ones(3, 6, 6)]), torch.tensor([0, 1]))
    assert training.moved(batch).parts[0].is_contiguous(memory_format=torch.channels_last)
    found = [float(training.step(batch).loss) for _ in range(20)]
    assert found[-1] < found[0]
    assert next(network.parameters()).dtype == torch.float32


def test_a_checkpoint_of_another_network() -> None:
    with pytest.raises(RunError, match=r"another network: 1 of its tensors do not fit, the first is weight"):
        load_weights(nn.Linear(2, 2), {"weight": torch.ones(3, 2), "bias": torch.ones(2)})


def test_few_digits_with_a_scaler_go_on(tmp_path) -> None:  # type: ignore[no-untyped-def]
    recipe = Recipe(lr=0.05, precision="float16")
    parts = batches(6)
    whole = Training(small(), recipe, steps=6, per_epoch=6)
    losses = [float(whole.step(batch).loss) for batch in parts]
    first = Training(small(), recipe, steps=6, per_epoch=6)
    for batch in parts[:3]:
        first.step(batch)
    write(tmp_path, "last", first.tensors(), first.facts())
    second = Training(small(), recipe, steps=6, per_epoch=6)
    second.restore(*read(tmp_path, "last"))
    assert second.facts()["scaler"] == first.facts()["scaler"]
    assert [float(second.step(batch).loss) for batch in parts[3:]] == losses[3:]


def test_compiled_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def compiled(forward):  # type: ignore[no-untyped-def]
        asked.append(forward)
        return lambda *inputs: 1.0 * forward(*inputs)

    monkeypatch.setattr(torch, "compile", compiled)
    network = small()
    plain = Training(small(), Recipe(), steps=1, per_epoch=1).step(batches(1)[0])
    assert asked == []
    found = Training(network, Recipe(compile=True), steps=1, per_epoch=1).step(batches(1)[0])
    assert asked == [network]
    assert found.loss == plain.loss


def test_mixed_samples_count_for_their_larger_share() -> None:
    images = torch.stack([torch.full((1, 4, 4), float(place)) for place in (0, 10)] * 4)
    labels = torch.tensor([0, 1] * 4)
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    with torch.no_grad():  # above 5 it is class 1, as whoever has the larger share says
        network[1].weight.copy_(torch.stack([torch.zeros(16), torch.ones(16)]))
        network[1].bias.copy_(torch.tensor([80.0, 0.0]))
    training = Training(network, Recipe(mixup=1.0, lr=1e-9), steps=9, per_epoch=9, task=Task((1, 4, 4), 2))
    assert float(training.step(Batch(images, labels)).correct) == 8


def test_mixing_takes_the_networks_outputs() -> None:
    torch.manual_seed(0)
    wide = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(16), nn.Linear(16, 9))
    batch = Batch(torch.randn(8, 1, 4, 4), torch.tensor([0, 1] * 4))
    training = Training(wide, Recipe(mixup=0.5), steps=2, per_epoch=2)
    assert torch.isfinite(training.step(batch).loss)
    assert wide[1].num_batches_tracked == 1, "asking for the outputs leaves no trace"
    narrow = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    with pytest.raises(InputError, match="the network has 2 outputs, but the data has 5 classes"):
        Training(narrow, Recipe(mixup=0.5), steps=2, per_epoch=2).step(Batch(batch.inputs, torch.arange(8) % 5))
    with pytest.raises(InputError, match="does not run on a batch"):
        Training(nn.Linear(7, 2), Recipe(mixup=0.5), steps=2, per_epoch=2).step(batch)


@examples(12)
@given(
    optimiser=st.sampled_from(OPTIMISERS),
    schedule=st.sampled_from(SCHEDULES),
    values=st.fixed_dictionaries(
        {
            "clip": st.sampled_from([0, 0.5]),
            "weight_decay": st.sampled_from([0, 0.1]),
            "mixup": st.sampled_from([0, 0.4]),
        }
    ),
    stop=st.integers(0, 5),
    seed=st.integers(0, 99),
)
def test_whatever_the_recipe_it_goes_on_bitwise(
    optimiser: str, schedule: str, values: dict[str, float], stop: int, seed: int
) -> None:
    recipe = Recipe(optimiser=optimiser, schedule=schedule, lr=0.01, crop=1, flip=True, no_decay=("norms",), **values)
    draws = torch.Generator().manual_seed(seed)
    parts = [
        Batch(torch.randn(4, 1, 5, 5, generator=draws), torch.randint(0, 3, (4,), generator=draws)) for _ in range(5)
    ]

    def begun() -> Training:
        torch.manual_seed(seed)
        body = [nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(27, 3)]
        return Training(nn.Sequential(*body), recipe, steps=5, per_epoch=2, seed=seed)

    whole, first, second = begun(), begun(), begun()
    for batch in parts:
        whole.step(batch)
    for batch in parts[:stop]:
        first.step(batch)
    second.restore({key: one.clone() for key, one in first.tensors().items()}, first.facts())
    for batch in parts[stop:]:
        second.step(batch)
    assert all(torch.equal(second.tensors()[key], one) for key, one in whole.tensors().items())
    assert second.number == whole.number == 5
