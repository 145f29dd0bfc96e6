"""A judging: the same folds and seeds for all, exactly resumed, failures told, others' folders refused."""

from __future__ import annotations

import json

import pytest
from tests.benchmarks.judging.logs import FAST, SMALL, csv, features, npz

from foresee.benchmarks.judging import judge
from foresee.benchmarks.judging import trial as trials
from foresee.benchmarks.judging.run import opened
from foresee.errors import InputError, RunError, SettingsMismatchError, TrainingError, UnknownNameError

WHO = ["logistic", "deepfm", "trees"]


def run(data, who=WHO, **given):
    settings = {name: values for name, values in SMALL.items() if name in who}
    return judge(who, data, **{"folds": 2, "seeds": 2, "settings": settings, "recipe": "fast", **FAST, **given})


def numbers(judged):
    return {(one.contestant, one.fold, one.seed): one.test and one.test.to_json() for one in judged.verdicts}


def test_everyone_is_judged_on_the_same_rows(tmp_path):
    found = run(features(), out=tmp_path / "j")
    assert all(one.ok for one in found.verdicts)
    assert len(found.verdicts) == 12
    observed = {(one.fold, one.test.samples, one.test.observed) for one in found.verdicts}
    assert len(observed) == 2
    assert found.reference == "logistic"
    assert not any(path.suffix == ".safetensors" for path in (tmp_path / "j").rglob("*"))
    assert numbers(opened(tmp_path / "j")) == numbers(found)
    assert json.dumps(opened(tmp_path / "j").to_json()) == json.dumps(found.to_json())


def test_killed_in_the_middle_it_goes_on_to_the_same_numbers(tmp_path, monkeypatch):
    whole = run(features(), who=["logistic", "deepfm"], epochs=3)
    calls = []
    train = trials.train

    def stopped(*args, **given):
        calls.append(given["seed"])
        if len(calls) == 3:  # in the middle of a training, after a checkpoint
            steps = iter(range(5))

            def observe(event):
                if event.kind == "epoch" and next(steps) == 1:
                    raise KeyboardInterrupt

            return train(*args, **given, observers=[observe], save_steps=1)
        return train(*args, **given)

    monkeypatch.setattr(trials, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(features(), who=["logistic", "deepfm"], epochs=3, out=tmp_path / "j")
    monkeypatch.setattr(trials, "train", train)
    told = []
    again = run(features(), who=["logistic", "deepfm"], epochs=3, out=tmp_path / "j", observers=[told.append])
    assert (told[0].kind, told[0].details["kept"]) == ("resumed", 2)
    assert numbers(again) == numbers(whole)


def test_more_seeds_and_contestants_extend_it(tmp_path):
    first = run(features(), who=["logistic"], seeds=1, out=tmp_path / "j")
    told = []
    more = run(features(), who=["logistic", "trees"], seeds=2, out=tmp_path / "j", observers=[told.append])
    assert told[0].details["kept"] == 2
    assert numbers(more).items() >= numbers(first).items()


@pytest.mark.slow
def test_two_workers_say_the_same(tmp_path):
    path = npz(tmp_path)
    alone, both = (run(str(path), who=["logistic", "trees"], workers=workers, seeds=1) for workers in (1, 2))
    assert numbers(alone) == numbers(both)
    with pytest.raises(InputError, match="one worker"):
        run(features(), workers=2)


def test_a_raw_log(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESEE_CACHE", str(tmp_path / "cache"))
    log, schema = csv(tmp_path)
    found = run(str(log), schema=str(schema), who=["logistic", "trees"], seeds=1)
    assert all(one.ok for one in found.verdicts)


def test_a_failure_is_a_status(tmp_path, monkeypatch):
    def failing(*args, **given):
        raise TrainingError("the loss is nan")

    monkeypatch.setattr(trials, "train", failing)
    found = run(features(), who=["logistic", "trees"], out=tmp_path / "j")
    assert {one.reason for one in found.verdicts if one.contestant == "logistic"} == {"the loss is nan"}
    assert found.standings["trees"].failed == 0
    monkeypatch.undo()
    assert numbers(run(features(), who=["logistic", "trees"], out=tmp_path / "j")) == numbers(found)


def test_another_judging_or_contestant_of_that_name_is_refused(tmp_path):
    run(features(), who=["logistic"], seeds=1, out=tmp_path / "j")
    with pytest.raises(SettingsMismatchError, match=r"recipe.lr"):
        run(features(), who=["logistic"], seeds=1, out=tmp_path / "j", lr=0.5)
    with pytest.raises(RunError, match="another contestant of this name"):
        run(features(), who=["logistic=trees"], seeds=1, out=tmp_path / "j")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "training.json").write_text("{}")
    with pytest.raises(RunError, match="holds a search or a training"):
        run(features(), who=["logistic"], seeds=1, out=tmp_path / "t")


def test_mistakes_are_named():
    with pytest.raises(UnknownNameError, match="reference"):
        run(features(), reference="dlrm")
    with pytest.raises(InputError, match="folds"):
        run(features(), folds=1)


def test_images_go_by_accuracy():
    found = judge(["mlp mlp(16)"], "digits", folds=2, seeds=1, recipe="fast", epochs=1)
    assert found.measures == ("accuracy", "loss")
