"""The loop: learns, keeps, goes on exactly after any end, and says what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.training.stopping import StopError, stopped_after
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import foresee as fs
from foresee.data import Digits, GivenBatches
from foresee.errors import DataError, InputError, RunError, SettingsMismatchError, TrainingError
from foresee.runs.events import Event
from foresee.training import checkpoints
from foresee.training.keeping import differences
from foresee.training.loop import train
from foresee.training.recipe import Recipe
from foresee.training.trained import Trained


def points(count: int = 120, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draws = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 4, generator=draws)
    return x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long()


def small() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))


def curve(found: Trained) -> list[tuple[Any, ...]]:
    """All of the history but the time."""
    return [(e.number, e.loss, e.accuracy, e.val_loss, e.val_accuracy, e.rate) for e in found.history]


def same_weights(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def test_it_learns() -> None:
    found = train(small(), points(300), "fast", test=points(100, 1), epochs=12, batch=20, lr=0.02)
    assert found.test is not None
    assert found.test.accuracy is not None
    assert found.test.accuracy > 0.75
    assert found.accuracy == found.test.accuracy
    assert found.history[-1].loss < found.history[0].loss
    assert not found.network.training
    assert max(e.val_accuracy or 0 for e in found.history) == found.history[found.best_epoch - 1].val_accuracy
    assert "% right" in repr(found)
    assert Trained.from_json(json.loads(json.dumps(found.to_json())), found.network).to_json() == found.to_json()


def test_equal_seeds_are_bitwise_equal() -> None:
    first, second = (train(small(), points(), epochs=2, batch=16, seed=3) for _ in range(2))
    assert curve(first) == curve(second)
    assert same_weights(first.network, second.network)
    assert curve(train(small(), points(), epochs=2, batch=16, seed=4)) != curve(first)


def test_the_folder(tmp_path: Path) -> None:
    found = train(small(), points(), epochs=3, batch=16, out=tmp_path / "run")
    there = set(os.listdir(tmp_path / "run"))
    assert {"training.json", "best.safetensors", "best.json", "last.safetensors", "last.json"} <= there
    assert not any(name.endswith(".new") for name in there)
    plain = json.loads((tmp_path / "run" / "training.json").read_text())
    assert plain["status"] == "finished"
    assert len(plain["history"]) == 3
    # loads without us
    other = small()
    other.load_state_dict(load_file(tmp_path / "run" / "best.safetensors"))
    assert same_weights(other, found.network)
    with pytest.raises(RunError, match="a training is in this folder; resume it"):
        train(small(), points(), epochs=3, batch=16, out=tmp_path / "run")


def test_a_finished_training_is_read(tmp_path: Path) -> None:
    first = train(small(), points(), epochs=2, batch=16, out=tmp_path, test=points(20, 2))
    second = train(small(), points(), epochs=2, batch=16, out=tmp_path, test=points(20, 2), resume=True)
    assert first.history == second.history
    assert first.test == second.test
    assert same_weights(first.network, second.network)


def test_other_settings_are_refused(tmp_path: Path) -> None:
    train(small(), points(), epochs=1, batch=16, out=tmp_path)
    with pytest.raises(SettingsMismatchError, match=r"recipe.lr: 0.5 here, 0.003 in the run"):
        train(small(), points(), epochs=1, batch=16, lr=0.5, out=tmp_path, resume=True)
    with pytest.raises(SettingsMismatchError, match=r"data.train.fingerprint"):
        train(small(), points(seed=5), epochs=1, batch=16, out=tmp_path, resume=True)
    assert differences({"device": "cpu"}, {"device": "cuda"}) == []


@pytest.mark.parametrize("after", [1, 7, 13, 20])
def test_stopped_anywhere_it_goes_on_bitwise(tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends after any step (7 in an epoch); every step is a checkpoint."""
    whole = train(small(), points(), "fast", epochs=3, batch=16, seed=2)
    with stopped_after(after, monkeypatch):
        train(small(), points(), "fast", epochs=3, batch=16, seed=2, out=tmp_path, save_seconds=0)
    parted = train(small(), points(), "fast", epochs=3, batch=16, seed=2, out=tmp_path, resume=True)
    assert curve(parted) == curve(whole)
    assert same_weights(parted.network, whole.network)
    assert parted.best_epoch == whole.best_epoch


SCRIPT = """
import sys, torch, foresee as fs
from torch import nn
from foresee.data import Digits
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(288, 10))
data = Digits(channels=1, size=8, split="train")
found = fs.train(net, data, "fast", epochs=3, batch=64, mixup=0.2, out=sys.argv[1], resume=True, save_seconds=0.05)
print(repr([(e.number, e.loss, e.val_loss, e.val_accuracy) for e in found.history]))
"""


def script(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_step(folder: Path, step: int, child: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and child.poll() is None:
        try:
            if checkpoints.read_facts(folder, "last")["step"] >= step:
                return
        except RunError:
            pass
        time.sleep(0.002)
    raise AssertionError(f"no step {step}: {child.communicate()[1]}")


@pytest.mark.slow
def test_killed_it_is_bitwise_the_same(tmp_path: Path) -> None:
    """SIGKILL at a moment that nobody chose, in the middle of an epoch."""
    child = script(tmp_path / "killed")
    wait_for_step(tmp_path / "killed", 25, child)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    facts = checkpoints.read_facts(tmp_path / "killed", "last")
    assert 25 <= facts["step"] < 63, "it ended before it was killed"
    both = [script(tmp_path / name) for name in ("killed", "whole")]
    ends = [one.communicate(timeout=120) for one in both]
    assert ends[0][0] == ends[1][0] != ""
    for name in ("best", "last"):
        first, second = (checkpoints.read(tmp_path / run, name)[0] for run in ("killed", "whole"))
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_ctrl_c_waits_for_the_step_and_saves(tmp_path: Path) -> None:
    class Interrupting(nn.Linear):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            Interrupting.calls += 1
            if Interrupting.calls == 5:
                os.kill(os.getpid(), signal.SIGINT)
            return super().forward(x)

    def network() -> nn.Module:
        torch.manual_seed(0)
        return Interrupting(4, 3)

    with pytest.raises(KeyboardInterrupt):
        train(network(), points(), epochs=2, batch=16, out=tmp_path)
    assert checkpoints.read_facts(tmp_path, "last")["step"] == 5
    parted = train(network(), points(), epochs=2, batch=16, out=tmp_path, resume=True)
    assert curve(parted) == curve(train(network(), points(), epochs=2, batch=16))


def test_a_checkpoint_every_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = checkpoints.write

    def write(folder: Any, name: str, tensors: Any, facts: Any) -> Any:
        seen.extend([facts["step"]] if name == "last" else [])
        return real(folder, name, tensors, facts)

    monkeypatch.setattr(checkpoints, "write", write)
    train(small(), points(), epochs=2, batch=16, out=tmp_path, save_steps=3)
    assert seen == [3, 6, 7, 9, 12, 14]


def test_ctrl_c_while_judging(tmp_path: Path) -> None:
    class Interrupting(nn.Linear):
        done = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not self.training and not Interrupting.done:
                Interrupting.done = True
                os.kill(os.getpid(), signal.SIGINT)
            return super().forward(x)

    def network() -> nn.Module:
        torch.manual_seed(0)
        return Interrupting(4, 3)

    given = {"data": points(), "epochs": 2, "batch": 16, "validation": points(40, 9)}
    with pytest.raises(KeyboardInterrupt):
        train(network(), **given, out=tmp_path)
    facts = checkpoints.read_facts(tmp_path, "last")
    assert (facts["step"], facts["history"]) == (8, [])
    parted = train(network(), **given, out=tmp_path, resume=True)
    assert curve(parted) == curve(train(network(), **given))


def test_no_number_stops_and_names_the_last_good(tmp_path: Path) -> None:
    class Sick(nn.Linear):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += self.training
            return super().forward(x) * (float("nan") if self.calls == 9 else 1)

    with pytest.raises(
        TrainingError, match=r"nan at step 8 \(epoch 2\).*last good checkpoint is .*last.safetensors \(step 7\)"
    ):
        train(Sick(4, 3), points(), epochs=3, batch=16, out=tmp_path)
    tensors, _ = checkpoints.read(tmp_path, "last")
    assert all(torch.isfinite(one).all() for one in tensors.values())
    with pytest.raises(TrainingError, match="nothing was kept on disk"):
        train(Sick(4, 3), points(), epochs=3, batch=16)


def test_out_of_memory_says_what_fits() -> None:
    class Large(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if len(x) > 20:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().forward(x)

    network = nn.Sequential(nn.BatchNorm1d(4), Large(4, 3))
    with pytest.raises(TrainingError, match=r"with 64 samples in a batch; 16 would fit: batch = 16 \(lr = 0.00075"):
        train(network, points(), epochs=1, batch=64)
    assert network[0].num_batches_tracked == 1, "tried sizes leave no trace"

    class None_(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise torch.OutOfMemoryError

    with pytest.raises(TrainingError, match="a single one too"):
        train(None_(4, 3), points(), epochs=1)


def test_events() -> None:
    seen: list[Event] = []
    train(small(), points(), epochs=2, batch=16, observers=[seen.append])
    kinds = [event.kind for event in seen]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    assert kinds.count("epoch") == 2
    last = next(event for event in reversed(seen) if event.kind == "epoch")
    assert last.details["number"] == 2
    assert (last.done, last.total) == (14, 14)


def test_a_line_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    from foresee.training import epochs

    monkeypatch.setattr(epochs, "OFTEN", 0.0)
    seen: list[Event] = []
    train(small(), points(), epochs=1, batch=16, observers=[seen.append])
    steps = [event.details for event in seen if event.kind == "step"]
    assert len(steps) == 7
    assert steps[3]["name"].startswith("epoch 1/1, loss ")
    assert "left" in steps[3]["name"]
    assert {"loss", "accuracy", "rate", "left", "step", "steps"} <= steps[3].keys()


# -- data of all kinds ----------------------------------------------------------------------------------------------------
def test_a_loader_of_ones_own_goes_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loader() -> DataLoader[Any]:
        return DataLoader(TensorDataset(*points()), batch_size=16, shuffle=True)

    def go(**more: Any) -> Trained:
        return train(small(), loader(), validation=points(30, 4), epochs=2, **more)

    whole = go()
    from foresee.training.steps import Training

    real = Training.step

    def step(self: Training, batch: Any) -> Any:
        if self.number == 11:
            raise StopError
        return real(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "step", step)
        with pytest.raises(StopError):
            go(out=tmp_path, save_seconds=0)
    torch.manual_seed(99)
    parted = go(out=tmp_path, resume=True)
    assert curve(parted) == curve(whole)
    assert len({e.loss for e in whole.history}) == 2


def test_a_data_set_of_ones_own_is_learnt_from_as_a_whole() -> None:
    """All of it, in batches of the recipe's size, or of its loader's; a share is kept for validation."""
    data = TensorDataset(*points(200))
    first = train(small(), data, epochs=2, batch=16)
    assert (first.data["train"]["samples"], first.data["validation"]["samples"]) == (180, 20)
    seen: list[Event] = []
    second = train(small(), DataLoader(data, batch_size=16, shuffle=True), epochs=2, batch=7, observers=[seen.append])
    assert [epoch.loss for epoch in second.history] == [epoch.loss for epoch in first.history]
    assert seen[0].total == 2 * 12


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return zip(*points(40), strict=True)


def test_a_stream_that_does_not_know_its_length_is_counted() -> None:
    found = train(small(), DataLoader(Stream(), batch_size=16), epochs=2, batch=7)
    assert found.data["train"]["samples"] == 40
    assert found.validation is None


def test_arrays_names_and_data() -> None:
    x, y = points()
    first = train(small(), (x.numpy().astype(np.float64), y.numpy()), epochs=1, batch=16)
    assert curve(first) == curve(train(small(), (x, y), epochs=1, batch=16))
    assert curve(first) == curve(train(small(), GivenBatches([fs.Batch(x, y)]), epochs=1, batch=16))
    picture = nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, 10))
    found = train(picture, "digits", epochs=1)
    assert found.test is not None
    assert (found.test.samples, found.data["train"]["samples"]) == (360, 1437 - 144)


def test_click_logs_and_regressions() -> None:
    class Clicks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.line = nn.Embedding(6, 3), nn.Linear(7, 1)

        def forward(self, dense: torch.Tensor, sparse: torch.Tensor) -> torch.Tensor:
            return self.line(torch.cat([dense, self.table(sparse).flatten(1)[:, :3]], 1))

    dense, sparse = torch.randn(80, 4), torch.randint(0, 6, (80, 2))
    clicked = train(Clicks(), ((dense, sparse), (dense[:, :1] > 0).float()), "ctr", epochs=3, batch=16)
    assert clicked.facts["kind"] == "answers"
    assert clicked.validation is not None
    value = train(nn.Linear(4, 1), (dense, dense[:, :1] * 2 + 0.5), epochs=20, lr=0.1)
    assert value.facts["kind"] == "values"
    assert value.history[-1].accuracy is None
    assert value.history[-1].val_loss < 0.2 * value.history[0].val_loss


def test_without_validation_the_last_is_the_best() -> None:
    found = train(small(), points(), epochs=3, batch=16, validation=None, recipe=fs.recipe("fast", validation=0))
    assert found.validation is None
    assert found.best_epoch == 3
    assert found.data["train"]["samples"] == 120
    assert found.accuracy is None


def test_a_last_batch_of_one_is_left_out() -> None:
    found = train(small(), points(33), "fast", epochs=1, batch=16, validation=points(5))
    assert found.data["train"]["samples"] == 33


@pytest.mark.filterwarnings("ignore:mkldnn_matmul")  # a processor without such numbers says so
def test_digits_of_few_numbers() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    found = train(network, Digits(channels=1, size=8), epochs=2, precision="bfloat16", channels_last=True, mixup=0.3)
    assert found.validation is not None
    assert found.validation.accuracy > 0.4


def test_an_architecture_is_built_by_the_recipe(tmp_path: Path) -> None:
    space = fs.spaces.get("darts", channels=8, layers=4)
    candidate = fs.Candidate(space, space.sample(__import__("random").Random(0)), fs.Task((3, 32, 32), 10))
    (tmp_path / "best.json").write_text(json.dumps(candidate.to_json()))
    found = train(
        tmp_path / "best.json",
        (torch.randn(8, 3, 32, 32), torch.arange(8) % 4),
        "nasi_cifar",
        epochs=1,
        batch=4,
        channels=4,
        layers=3,
        out=tmp_path / "run",
    )
    assert found.network.auxiliary is not None
    plain = json.loads((tmp_path / "run" / "architecture.json").read_text())
    assert plain["settings"] == {"channels": 4, "layers": 3, "auxiliary": True, "drop_path": 0.2}
    assert plain["task"] == {"inputs": [3, 32, 32], "outputs": 4}
    again = fs.build(tmp_path / "run" / "architecture.json")
    again.load_state_dict(load_file(tmp_path / "run" / "best.safetensors"))
    assert same_weights(again, found.network)


# -- mistakes -------------------------------------------------------------------------------------------------------------
def test_mistakes_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not run on a batch of this data: RuntimeError"):
        train(nn.Linear(7, 3), points(), epochs=1)
    with pytest.raises(InputError, match="the network has 2 outputs, but the data has 3 classes"):
        train(nn.Linear(4, 2), points(), epochs=1)
    with pytest.raises(DataError, match="no labels"):
        train(small(), torch.randn(8, 4), epochs=1)
    with pytest.raises(InputError, match="unknown data set"):
        train(small(), "digitz", epochs=1)
    with pytest.raises(InputError, match="is no network"):
        train(3, points())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs a teacher"):
        train(small(), points(), "zennas_cifar")
    with pytest.raises(InputError, match="did you mean epochs"):
        train(small(), points(), epoch=3)
    with pytest.raises(InputError, match="cannot be used here"):
        train(small(), points(), device="nowhere")


def test_patience_ends_it_where_validation_gets_no_better(tmp_path: Path) -> None:
    draws = torch.Generator().manual_seed(0)
    inputs, labels = torch.randn(60, 8, generator=draws), torch.randint(0, 2, (60, 1), generator=draws).float()
    given: dict[str, Any] = {"epochs": 30, "batch": 20, "lr": 0.5, "validation": 0.0}
    recipe = Recipe(**given, patience=2)
    kept = (inputs[:20], labels[:20])
    found = train(nn.Linear(8, 1), (inputs[20:], labels[20:]), recipe, validation=kept, out=tmp_path / "a")
    assert len(found.history) < 30
    assert len(found.history) == found.best_epoch + 2
    again = train(nn.Linear(8, 1), (inputs[20:], labels[20:]), recipe, validation=kept, out=tmp_path / "a", resume=True)
    assert curve(again) == curve(found)
    whole = train(nn.Linear(8, 1), (inputs[20:], labels[20:]), Recipe(**given), validation=kept)
    assert len(whole.history) == 30
    alone = train(nn.Linear(8, 1), (inputs[20:], labels[20:]), recipe)
    assert len(alone.history) == 30  # nothing says that it got no better
