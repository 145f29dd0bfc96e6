"""Recipes: all values of a training as one frozen thing, and the papers' own as data, one TOML file each.

    recipe("nasi_cifar")                            # as the paper prints it
    recipe("nasi_cifar", epochs=50, batch=128)      # every value can be another
    recipe("mine.toml")                             # a file of yours: the same names, and `base = "fast"` where it begins

A file says what it is for (`summary`), where that stands (`paper`, `section`), what is otherwise here (`differs`), then
values.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from foresee.errors import InputError, UnknownNameError, shown
from foresee.registry import tidy
from foresee.settings import Kind, Settings, setting, whole
from foresee.settings import name as a_name
from foresee.settings import names as some_names

OPTIMISERS = ("sgd", "adamw", "adam", "rmsprop", "adagrad")
SCHEDULES = ("cosine", "linear", "constant", "step")
PRECISIONS = ("float32", "bfloat16", "float16")
AUGMENTS = ("", "autoaugment", "randaugment")
#: parameters that can be kept from decay
DECAYLESS = ("biases", "norms", "embeddings")
#: what a file says beside its values
WORDS = ("summary", "paper", "section", "differs", "base")


def _number(low: float = 0.0, high: float = math.inf, *, above: bool = False) -> Kind:
    words = f"a number {'above' if above else 'from'} {low:g}" + ("" if math.isinf(high) else f" to {high:g}")
    return Kind(words, lambda value: _is_number(value) and low <= value <= high and not (above and value == low))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _one_of(known: Iterable[str]) -> Kind:
    there = tuple(known)
    return Kind(f"one of {', '.join(one or repr(one) for one in there)}", lambda value: value in there)


def _flag() -> Kind:
    return Kind("true or false", lambda value: isinstance(value, bool))


@dataclass(frozen=True)
class Recipe(Settings):
    """All values of a training; each can be written in a TOML file, as `--set recipe.lr=0.1`, or as `lr=0.1`.

    Args:
        name: the recipe that these values began as.
        epochs: passes over the training data, at most.
        patience: epochs without a better one on validation data after which it ends; 0 goes through all of them.
        batch: samples of a step.
        optimiser: `sgd`, `adamw`, `adam`, `rmsprop` or `adagrad`, torch's own.
        lr: the largest learning rate, after the warm-up.
        lr_min: the rate that the schedule ends at.
        momentum: of `sgd` and `rmsprop`.
        nesterov: of `sgd`: the momentum looks ahead.
        betas: of `adam` and `adamw`.
        eps: what keeps a division from being one by zero; not of `sgd`.
        alpha: smoothing of the squares of `rmsprop`.
        weight_decay: of every parameter that `no_decay` does not name.
        no_decay: what is not decayed, of `biases`, `norms` and `embeddings`.
        schedule: how the rate falls: `cosine`, `linear`, `constant`, or `step` (a tenth at a half and at three quarters).
        warmup_epochs: epochs (or a share of one) in which the rate rises from 0.
        clip: the largest norm of all gradients together; 0 does not clip.
        average: decay of the exponential average of the weights, which is judged and kept instead of them; 0 for none.
        label_smoothing: share of each target that is spread over all classes.
        crop: pixels of zeros around an image before one of its own size is cut out; 0 does not crop.
        resized_crop: least share of an image's area that is cut out and enlarged to its size; 0 does not.
        flip: half of the images are mirrored.
        cutout: side of a square that is set to zero; 0 for none.
        mixup: alpha of mixed pairs of images; 0 for none.
        cutmix: alpha of rectangles exchanged between images; 0 for none.
        augment: "", `autoaugment` or `randaugment`.
        magnitude: how strong the operations of `randaugment` are, of 10.
        operations: how many of them one image gets.
        erasing: probability of a rectangle of noise.
        auxiliary: weight of the auxiliary head's loss, where the network has such a head.
        drop_path: the largest probability of a dropped path; it rises linearly from 0 over the epochs.
        distil: weight of the teacher's answers against the labels, from 0 to 1.
        temperature: what teacher and network are divided by before they are compared.
        precision: `float32`, or `bfloat16` and `float16` by torch's autocast.
        channels_last: images and weights are kept with the channels last.
        compile: the network goes through `torch.compile`.
        validation: share of the training data that is kept for validation, where none comes with the data.
        embedding_spread: standard deviation that fresh embedding tables are scaled to, where the training builds the network;
            0 leaves them as they are drawn.
        first_order: networks for click logs have a part of first order where they can (a weight for each value, as a logistic
            regression has), which learns alone until validation gets worse; then all of it learns, from there.
        channels: width of a network that is built from a space; None: as the space says.
        layers: depth of it.

    >>> Recipe(epochs=3).schedule
    'cosine'
    >>> Recipe(lr=-1)
    Traceback (most recent call last):
    foresee.errors.InputError: recipe: lr = -1: expected a number above 0
    """

    name: str = setting("", a_name())
    epochs: int = setting(30, whole(least=1))
    patience: int = setting(0, whole(least=0))
    batch: int = setting(64, whole(least=1))
    optimiser: str = setting("sgd", _one_of(OPTIMISERS))
    lr: float = setting(0.1, _number(above=True))
    lr_min: float = setting(0.0, _number())
    momentum: float = setting(0.9, _number(0, 1))
    nesterov: bool = setting(False, _flag())
    betas: tuple[float, float] = setting((0.9, 0.999), Kind("two numbers from 0 to below 1", lambda v: _are_betas(v)))
    eps: float = setting(1e-8, _number())
    alpha: float = setting(0.99, _number(0, 1))
    weight_decay: float = setting(0.0, _number())
    no_decay: tuple[str, ...] = setting((), some_names(f"a list of names among {', '.join(DECAYLESS)}"))
    schedule: str = setting("cosine", _one_of(SCHEDULES))
    warmup_epochs: float = setting(0.0, _number())
    clip: float = setting(0.0, _number())
    average: float = setting(0.0, Kind("a decay from 0 to below 1", lambda value: _is_number(value) and 0 <= value < 1))
    label_smoothing: float = setting(0.0, _number(0, 1))
    crop: int = setting(0, whole(least=0))
    resized_crop: float = setting(0.0, _number(0, 1))
    flip: bool = setting(False, _flag())
    cutout: int = setting(0, whole(least=0))
    mixup: float = setting(0.0, _number())
    cutmix: float = setting(0.0, _number())
    augment: str = setting("", _one_of(AUGMENTS))
    magnitude: float = setting(9, _number(0, 10))
    operations: int = setting(2, whole(least=1))
    erasing: float = setting(0.0, _number(0, 1))
    auxiliary: float = setting(0.0, _number())
    drop_path: float = setting(0.0, Kind("a probability below 1", lambda value: _is_number(value) and 0 <= value < 1))
    distil: float = setting(0.0, _number(0, 1))
    temperature: float = setting(1.0, _number(above=True))
    precision: str = setting("float32", _one_of(PRECISIONS))
    channels_last: bool = setting(False, _flag())
    compile: bool = setting(False, _flag())
    validation: float = setting(
        0.1, Kind("a share from 0 to below 1", lambda value: _is_number(value) and 0 <= value < 1)
    )
    embedding_spread: float = setting(0.0, _number())
    first_order: bool = setting(False, _flag())
    channels: int | None = setting(None, whole(least=1))
    layers: int | None = setting(None, whole(least=1))

    def __post_init__(self) -> None:
        for one in fields(self):
            value, kind = getattr(self, one.name), one.metadata["kind"]
            if not (value is None and one.default is None) and not kind.accepts(value):
                raise InputError(f"recipe: {one.name} = {shown(value)}: expected {kind.words}")
        super().__post_init__()
        for word in self.no_decay:
            if word not in DECAYLESS:
                raise UnknownNameError("kind of parameter in no_decay", word, DECAYLESS)
        if self.lr_min > self.lr:
            raise InputError(
                f"recipe: lr_min = {self.lr_min:g} is above lr = {self.lr:g}; the rate falls from lr to it"
            )
        if self.nesterov and self.optimiser == "sgd" and self.momentum == 0:
            raise InputError("recipe: nesterov = true needs a momentum above 0")

    def but(self, **changes: Any) -> Recipe:
        """The same with other values; an unknown name is said with the nearest.

        >>> Recipe().but(flp=True)
        Traceback (most recent call last):
        foresee.errors.UnknownNameError: unknown value of a recipe 'flp': did you mean flip, clip, alpha?
        """
        for key in changes:
            if key not in self.kinds():
                raise UnknownNameError("value of a recipe", key, [key for key in self.kinds() if key != "name"])
        return replace(self, **changes)

    @property
    def augments(self) -> bool:
        """Whether images are changed before they are learnt from, each by itself."""
        return bool(self.crop or self.resized_crop or self.flip or self.cutout or self.augment or self.erasing)

    @property
    def mixes(self) -> bool:
        """Whether images are mixed with each other, so that targets are soft."""
        return self.mixup > 0 or self.cutmix > 0


@dataclass(frozen=True)
class Described:
    """A recipe with what is known of it: `paper` and `section` where it stands, `differs` what is otherwise here."""

    name: str
    recipe: Recipe
    summary: str = ""
    paper: str = ""
    section: str = ""
    differs: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """What it says itself: the values that are not the usual ones."""
        usual = Recipe(name=self.name).to_json()
        return {key: value for key, value in self.recipe.to_json().items() if usual.get(key) != value}


def recipe(of: str | Path | Recipe = "fast", **changes: Any) -> Recipe:
    """The recipe of this name, or in this file; what else is given wins.

    >>> recipe("nasi_cifar").lr, recipe("nasi-cifar", lr=0.1).lr
    (0.025, 0.1)
    """
    found = of if isinstance(of, Recipe) else about(of).recipe
    return found.but(**changes)


def about(of: str | Path) -> Described:
    """A recipe with its words."""
    path = Path(of)
    if isinstance(of, str) and path.suffix != ".toml":
        known = names()
        found = next((one for one in known if one == tidy(of)), None)
        if found is None:
            raise UnknownNameError("recipe", of, known)
        return _described(found, (files(__package__) / "recipes" / f"{found}.toml").read_text(encoding="utf-8"), found)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"recipe {path}: {getattr(error, 'strerror', None) or error}") from error
    return _described(path.stem, text, str(path))


def names() -> list[str]:
    """All recipes that come along, in order.

    >>> "fast" in names()
    True
    """
    folder = files(__package__) / "recipes"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _described(called: str, text: str, where: str) -> Described:
    try:
        plain = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"recipe {where}: not valid TOML: {error}") from error
    words = {key: str(plain.pop(key)) for key in WORDS if key in plain}
    base = about(words.pop("base")).recipe if "base" in words else Recipe()
    return Described(called, base.but(**_listed(plain), name=called), **words)


def _listed(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}


def _are_betas(value: Any) -> bool:
    return (
        isinstance(value, tuple | list) and len(value) == 2 and all(_is_number(one) and 0 <= one < 1 for one in value)
    )
