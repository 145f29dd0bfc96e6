"""What a person names on the command line: one network that their code makes, or a space to choose from."""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foresee.cli.groups import ScoringOptions
from foresee.errors import InputError, said

if TYPE_CHECKING:
    from torch import nn

    from foresee.scoring.scorer import Scorer
    from foresee.scoring.settings import ScoringSettings


def factory_of(reference: str) -> Any:
    """The function (or class) behind `module:function` that makes one network; None where it is a space."""
    from foresee.spaces import load_object

    if ":" not in reference:
        return None
    made = load_object(reference)
    return None if _asks(made) else made


def make(factory: Any, reference: str, seed: int) -> nn.Module:
    """The network of a factory, with weights that the seed decides."""
    import torch
    from torch import nn

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            network = factory if isinstance(factory, nn.Module) else factory()
        except (Exception, SystemExit) as error:
            raise InputError(f"{reference} raised {said(error)}") from error
    if not isinstance(network, nn.Module):
        raise InputError(f"{reference} returned {type(network).__name__}: expected a torch.nn.Module")
    return network


def threads_of(scoring: ScoringOptions) -> AbstractContextManager[Any]:
    """The torch threads that were asked for; where nothing was said, torch chooses."""
    from foresee.devices import threads

    return threads(scoring.threads) if scoring.threads else nullcontext()


def alone(settings: ScoringSettings) -> ScoringSettings:
    """The settings for networks that no space has: a warm-up trains each by itself."""
    if settings.warmup_by == "supernet":
        raise InputError(
            "--warmup-by supernet: is for the architectures of a space; networks are warmed up each by itself"
        )
    return replace(settings, warmup_by="network") if settings.warms else settings


def prepared(scorer: Scorer) -> dict[str, str]:
    """Let a scorer do what comes before all scores, with a bar; what it did in words, where it did something."""
    if not scorer.settings.warms:
        return {}
    from foresee.cli.progress import Watch
    from foresee.supernets.words import in_words

    with Watch("warm-up", show=True) as watch:
        return {"warm-up": in_words(scorer.prepare(observers=[watch.observe]))}


def _asks(made: Any) -> bool:
    """Whether a function wants to be handed `pick`; a factory needs nothing."""
    if not callable(made) or hasattr(made, "parameters"):
        return False
    needed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(made).parameters.values()
    return any(one.kind in needed and one.default is inspect.Parameter.empty for one in parameters)
