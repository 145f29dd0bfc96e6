"""`foresee search --train-best`: the foremost of a search, trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import typer
from rich.markup import escape

from foresee.cli.app import stopped as say_stopped
from foresee.cli.options import parse_settings
from foresee.cli.progress import Epochs
from foresee.cli.start import STOPPED


def recipe_of(pairs: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What `--set` says of the recipe, and the rest, which is for the search."""
    own = [pair for pair in pairs if pair.startswith("recipe.")]
    return parse_settings(own).get("recipe", {}), [pair for pair in pairs if pair not in own]


def checked(
    count: int, recipe: str | None, changes: Mapping[str, Any], again: Mapping[str, Any]
) -> tuple[str | None, Mapping[str, Any]]:
    """The recipe and what is changed in it, before anything is searched."""
    from foresee.checks import whole
    from foresee.searchers.foremost import check_looks
    from foresee.training.recipe import recipe as get_recipe

    whole("--train-best", count)
    check_looks(again["folds"], again["seeds"])
    get_recipe(recipe or "fast", **changes)  # which one it will be is known when there are data; names are those of any
    return recipe, changes


def train_foremost(
    run: Any,
    count: int,
    how: tuple[str | None, Mapping[str, Any]],
    report: Callable[[], object],
    *,
    again: Mapping[str, Any],
    quiet: bool,
) -> Any:
    """The foremost, trained; a training that is stopped goes on with the same command and --resume."""
    from foresee.searchers.foremost import train_best

    recipe, changes = how
    watch = Epochs("training", show=not quiet)
    try:
        with watch:
            return replace(run, trained=train_best(run, count, recipe, observers=[watch.observe], **again, **changes))
    except KeyboardInterrupt:
        report()
        say_stopped("; the search is done, the same command with --resume goes on training")
        raise typer.Exit(STOPPED) from None


def trained(run: Any) -> list[tuple[str, str]]:
    """What training says of the foremost, a line each, and who is the best."""
    if run.trained is None:
        return []
    rows = [
        ("trained" if one.place == 1 else "", escape(f"{one.place}. candidate {one.id}: {_judged(one)}"))
        for one in run.trained.foremost
    ]
    best = run.trained.best
    weights = "" if best.trained.folder is None else f", weights in {best.trained.folder / 'best.safetensors'}"
    chosen = [("chosen", escape(run.trained.said))] if run.trained.said else []
    named = "" if run.folder is None else f", named in {run.folder / 'best.json'}"
    return [*rows, *chosen, ("winner", escape(f"candidate {best.id}: {best.candidate.architecture}{weights}{named}"))]


def _judged(one: Any) -> str:
    """What is known of one of the foremost: over folds, by validation, by the test rows; or why nothing is."""
    if one.reason:
        return str(one.reason)
    words = []
    if one.compared is not None:
        plain = one.compared.to_json()
        area = "" if plain["auc"] is None else f"AUC {plain['auc']:.4f}, "
        words.append(f"{area}loss {plain['loss']:.4f}, mean of {len(plain['looks'])}")
    if one.trained is not None:
        words.append(f"validation {one.trained.validation or 'none'}")
        words += [f"test {one.trained.test}"] if one.trained.test else []
    return "; ".join(words)
