"""Recipes: the papers' values, files, changes, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresee.errors import InputError, UnknownNameError
from foresee.training.recipe import OPTIMISERS, Recipe, about, names, recipe

#: as printed: thesis A.1.3, NASI B.4, thesis 5.3.5 and 7.6.4, SiGeo F.3 and F.4, the benchmarks' settings
PRINTED = {
    "ch4_cifar": {
        "epochs": 600,
        "batch": 80,
        "lr": 0.025,
        "momentum": 0.9,
        "weight_decay": 3e-4,
        "layers": 20,
        "cutout": 0,
        "auxiliary": 0,
        "drop_path": 0,
    },
    "nasi_cifar": {
        "epochs": 600,
        "batch": 96,
        "lr": 0.025,
        "lr_min": 0,
        "weight_decay": 3e-4,
        "auxiliary": 0.4,
        "drop_path": 0.2,
        "channels": 36,
        "layers": 20,
    },
    "nasi_imagenet": {
        "epochs": 250,
        "batch": 1024,
        "lr": 0.5,
        "weight_decay": 3e-5,
        "warmup_epochs": 5,
        "schedule": "linear",
        "channels": 46,
        "layers": 14,
    },
    "nesbs_imagenet": {"epochs": 250, "batch": 1024, "lr": 0.5, "schedule": "linear", "channels": 44, "auxiliary": 0.4},
    "hnas_cifar100": {
        "epochs": 600,
        "batch": 96,
        "lr": 0.035,
        "lr_min": 0.001,
        "auxiliary": 0.6,
        "drop_path": 0.3,
        "cutout": 16,
    },
    "hnas_imagenet": {
        "epochs": 250,
        "batch": 1024,
        "lr": 0.7,
        "schedule": "cosine",
        "warmup_epochs": 5,
        "weight_decay": 3e-5,
    },
    "zennas_cifar": {
        "epochs": 1440,
        "batch": 256,
        "lr": 0.1,
        "weight_decay": 5e-4,
        "augment": "autoaugment",
        "schedule": "cosine",
    },
    "autoformer": {
        "epochs": 500,
        "optimiser": "adamw",
        "lr": 5e-4 * 1024 / 512,
        "batch": 1024,
        "weight_decay": 0.05,
        "warmup_epochs": 20,
        "mixup": 0.8,
        "cutmix": 1.0,
        "label_smoothing": 0.1,
        "erasing": 0.25,
        "augment": "randaugment",
        "magnitude": 9,
    },
    "nasbench101": {
        "epochs": 108,
        "batch": 256,
        "optimiser": "rmsprop",
        "lr": 0.2,
        "eps": 1.0,
        "weight_decay": 1e-4,
        "momentum": 0.9,
    },
    "nasbench201": {"epochs": 200, "batch": 256, "optimiser": "sgd", "nesterov": True, "lr": 0.1, "weight_decay": 5e-4},
    "ctr": {
        "epochs": 1,
        "batch": 512,
        "optimiser": "adagrad",
        "lr": 0.12,
        "lr_min": 1e-8,
        "eps": 1e-2,
        "warmup_epochs": 0.1,
        "clip": 5,
    },
    "fast": {"epochs": 30},
    "warmup": {"epochs": 1},
    "hnas_short": {
        "epochs": 10,
        "batch": 576,
        "optimiser": "sgd",
        "lr": 0.1,
        "lr_min": 5e-3,
        "momentum": 0.9,
        "weight_decay": 3e-4,
        "drop_path": 0.2,
        "clip": 5,
        "validation": 0.5,
        "channels": 16,
        "layers": 5,
        "crop": 0,
        "flip": False,
    },
    "nesbs_supernet": {
        "epochs": 50,
        "batch": 128,
        "optimiser": "sgd",
        "lr": 0.1,
        "lr_min": 0,
        "schedule": "cosine",
        "momentum": 0.9,
        "weight_decay": 3e-4,
        "validation": 0.3,
    },
    "nasrec_supernet": {"epochs": 1, "optimiser": "adagrad", "lr": 0.12, "lr_min": 1e-8, "eps": 1e-2, "clip": 5},
    "autoformer_supernet": {"epochs": 500, "optimiser": "adamw", "lr": 1e-3, "batch": 1024, "warmup_epochs": 20},
}
#: nobody's but ours
OWN = ("fast", "warmup", "ctr_small", "ctr_middle", "ctr_reduced", "ctr_warmup")


@pytest.mark.parametrize("name", PRINTED)
def test_the_papers_values(name: str) -> None:
    found = recipe(name)
    assert {key: getattr(found, key) for key in PRINTED[name]} == PRINTED[name]
    assert found.name == name


def test_all_recipes_are_described() -> None:
    assert set(names()) >= set(PRINTED)
    for name in names():
        said = about(name)
        assert said.summary
        assert said.recipe == recipe(name)
        assert (said.paper and said.section) or name in OWN


def test_more_rows_of_a_click_log_take_larger_steps_and_decayed_embeddings() -> None:
    small, middle = recipe("ctr_small"), recipe("ctr_middle")
    assert middle.batch > small.batch
    assert middle.lr > small.lr
    assert middle.first_order
    assert middle.average > small.average
    # one epoch that is no better is no end: networks that learn interactions stand still before they do
    assert middle.patience == small.patience == 2
    assert (small.no_decay, middle.no_decay) == (("embeddings", "biases"), ("biases",))


def test_values_are_those_that_are_not_usual() -> None:
    assert about("nasbench201").values["nesterov"] is True
    assert "betas" not in about("nasbench201").values


def test_hyphens_and_changes() -> None:
    assert recipe("nasi-cifar", epochs=3) == recipe("nasi_cifar").but(epochs=3)
    assert recipe(Recipe(lr=0.3), batch=2).batch == 2


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "ctr"\nsummary = "mine"\nlr = 1\nno_decay = ["biases"]\n')
    found = about(tmp_path / "mine.toml")
    assert (found.recipe.lr, found.recipe.optimiser, found.recipe.no_decay) == (1, "adagrad", ("biases",))
    assert (found.name, found.summary) == ("mine", "mine")
    assert recipe(str(tmp_path / "mine.toml")).name == "mine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epochz = 3", "did you mean epochs"),
        ("epochs = 0", "at least 1"),
        ("epochs = 2.5", "epochs = 2.5: expected a whole number"),
        ('lr = "fast"', "lr = 'fast': expected a number above 0"),
        ("lr = nan", "expected a number"),
        ("optimiser = 'sdg'", "expected one of sgd"),
        ("no_decay = ['bias']", "did you mean biases"),
        ("lr = 0.1\nlr_min = 0.2", "above lr"),
        ("betas = [0.9]", "two numbers"),
        ("base = 'fats'", "did you mean fast"),
        ("flip = 1", "true or false"),
        ("drop_path = 1", "below 1"),
        ("= 3", "not valid TOML"),
    ],
)
def test_mistakes_in_files_are_one_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        recipe(tmp_path / "bad.toml")
    assert "\n" not in str(caught.value).strip()


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean nasi_cifar"):
        recipe("nasi_cifra")
    with pytest.raises(UnknownNameError, match="did you mean weight_decay"):
        recipe("fast", weight_decy=1)
    with pytest.raises(InputError, match="No such file"):
        recipe("there_is_none.toml")


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "epochs": st.integers(1, 10**6),
            "optimiser": st.sampled_from(OPTIMISERS),
            "lr": st.floats(1e-9, 1e3),
            "mixup": st.floats(0, 10),
            "flip": st.booleans(),
            "channels": st.none() | st.integers(1, 99),
            "no_decay": st.lists(st.sampled_from(["biases", "norms"])).map(tuple),
        },
    )
)
def test_plain_form_and_back(changes: dict[str, object]) -> None:
    made = Recipe().but(**changes)
    assert Recipe.from_json(made.to_json()) == made
