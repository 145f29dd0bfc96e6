"""What an attack is: from a network, images and their labels to images that the network takes for something else.

    @attack("fgsm", norm="linf", paper="...", cost="1 gradient")
    def fgsm(victim: Victim, *, eps: float = 0.01) -> Tensor:
        ...

The body is the paper's algorithm on one batch: it asks the `Victim` for outputs and gradients and returns images. All else is
done here, for all of them: pixels lie in [0, 1] (a network that wants normalised inputs normalises them itself: see
`training.export.answering.Answering`), the network runs in evaluation mode and is left as found, no parameter gets a
gradient, batches that do not fit into memory are halved, what came out is looked at once more by a plain forward run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from foresee import checks
from foresee.ensembles.attacks.victim import Ledger, Victim, answers
from foresee.errors import DataError, InputError, UnsupportedError, shown
from foresee.probes.splitting import out_of_memory
from foresee.probes.state import untouched
from foresee.registry import Registry, check_settings

Norm = Literal["linf", "l2"]
Body = TypeVar("Body", bound=Callable[..., Tensor])
#: samples that are attacked at once, as AutoAttack does it; results do not depend on it
BATCH = 250


@dataclass(frozen=True, eq=False)
class Attacked:
    """What an attack did; everything is per sample, of shape (n,), in the order of the images handed in.

    Args:
        attack: its name.
        settings: those that were said.
        images: adversarial ones, float32 in [0, 1]; the clean image where nothing was found.
        right: whether the network knew the clean image.
        success: whether the network is wrong at `images`; also where it was wrong before.
        linf: the largest change of a pixel, float64.
        l2: the Euclidean length of the change, float64.
        queries: forward runs.
        gradients: those with a backward run.
        by: of an attack with parts, which one succeeded.
    """

    attack: str
    settings: Mapping[str, Any]
    images: Tensor
    right: Tensor
    success: Tensor
    linf: Tensor
    l2: Tensor
    queries: Tensor
    gradients: Tensor
    by: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)

    @property
    def clean_accuracy(self) -> float:
        """Share of samples that the network knew before."""
        return float(self.right.double().mean())

    @property
    def accuracy(self) -> float:
        """Share of samples that the network still knows: the robust accuracy."""
        return float((~self.success).double().mean())

    def to_json(self) -> dict[str, Any]:
        """Means over the samples as plain values, without the images; norms are those of samples that were turned."""
        turned = self.right & self.success
        norms = {name: float(getattr(self, name)[turned].mean()) if turned.any() else None for name in ("linf", "l2")}
        spent = {name: float(getattr(self, name).double().mean()) for name in ("queries", "gradients")}
        parts = {name: self.by.count(name) for name in dict.fromkeys(self.by) if name}
        known = {"samples": len(self), "clean_accuracy": self.clean_accuracy, "accuracy": self.accuracy}
        return {"attack": self.attack, "settings": dict(self.settings), **known, **norms, **spent, "by": parts}

    def __repr__(self) -> str:
        before, after = self.clean_accuracy, self.accuracy
        return f"<Attacked by {self.attack}: {before:.1%} right before, {after:.1%} after, of {len(self):,}>"


@dataclass(frozen=True)
class Attack:
    """An attack by name: call it with a network, images (n, ...) in [0, 1] and labels (n,).

    Args:
        name: in the registry.
        body: `(victim, **settings) -> images`.
        norm: by which the change is bounded, or made small.
        paper: where it is described.
        cost: for each sample, in words.
        white_box: whether it uses gradients.
        spares: whether samples that the network gets wrong by itself are left alone; otherwise they are changed like others.
    """

    name: str
    body: Callable[..., Tensor]
    norm: Norm
    paper: str
    cost: str
    white_box: bool = True
    spares: bool = True

    def __call__(
        self, network: nn.Module, images: Tensor, labels: Tensor, *, seed: int = 0, batch: int = BATCH, **settings: Any
    ) -> Attacked:
        """Attack.

        Args:
            network: a classifier of pixels from 0 to 1, wherever it is; it is left as found.
            images: (n, ...), in [0, 1].
            labels: (n,), whole numbers.
            seed: decides random starts, for each sample by its place among `images`.
            batch: samples at once; halved where memory does not suffice.
            settings: see the attack's own page.
        """
        check_settings(f"attack {self.name}", self.body, settings)
        check_numbers(f"attack {self.name}", settings)
        checks.whole("batch", batch, of=f"attack {self.name}")
        clean, labels = checked(images, labels)
        ledger, there = Ledger.of(len(clean)), where(network, images)
        done: list[tuple[Tensor, ...]] = []
        with untouched(network, seed):
            network.eval()
            for one in network.parameters():
                one.requires_grad_(False)
            for rows in torch.split(torch.arange(len(clean)), batch):
                victim = Victim(network, clean[rows].to(there), labels[rows].to(there), rows, seed, ledger)
                done.append(tuple(part.cpu() for part in self._attacked(victim, settings)))
        changed, right, success = (torch.cat(parts) for parts in zip(*done, strict=True))
        away = (changed.double() - clean.double()).flatten(1)
        return Attacked(
            attack=self.name,
            settings=settings,
            images=changed.to(images.device),
            right=right,
            success=success,
            linf=away.abs().amax(1),
            l2=away.norm(dim=1),
            queries=ledger.queries,
            gradients=ledger.gradients,
            by=tuple(ledger.by),
        )

    def _attacked(self, victim: Victim, settings: Mapping[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
        """Images, whether the clean ones were known, whether these are not; a batch that is too large in two halves."""
        try:
            return self._run(victim, settings)
        except Exception as error:
            if len(victim) == 1 or not out_of_memory(error):
                raise
        victim.ledger.forget(victim.rows)
        halves = torch.arange(len(victim)).chunk(2)
        found = [self._attacked(victim.part(half), settings) for half in halves]
        first, second, third = (torch.cat(parts) for parts in zip(*found, strict=True))
        return first, second, third

    def _run(self, victim: Victim, settings: Mapping[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
        before = plain(victim.network, victim.images)
        if not bool(before.isfinite().all()):
            raise UnsupportedError(f"attack {self.name}: the network's outputs at clean images are not finite")
        if int(victim.labels.max()) >= before.shape[1]:
            raise InputError(f"labels up to {int(victim.labels.max())}, but the network has {before.shape[1]} outputs")
        right = ~victim.fooled(before)
        images = victim.images.clone()
        chosen = right if self.spares else torch.ones_like(right)
        if bool(chosen.any()):
            images[chosen] = self.body(victim.part(chosen), **settings).detach().float().clamp(0, 1)
        wrong = victim.fooled(plain(victim.network, images))
        mended = ~right & ~wrong  # an attack that helps is none
        images[mended] = victim.images[mended]
        return images, right, wrong | mended


attacks: Registry[Attack] = Registry("attack", group="foresee.attacks", home="foresee.ensembles.attacks")


def attack(name: str, **about: Any) -> Callable[[Body], Body]:
    """Decorator: the function is the body of an attack of this name; `about` are the fields of `Attack`."""

    def decorate(body: Body) -> Body:
        attacks.add(name, Attack(name, body, **about))
        return body

    return decorate


def plain(network: nn.Module, images: Tensor) -> Tensor:
    """Outputs by the way of every prediction, counted by nobody."""
    with torch.no_grad():
        return answers(network, images)


def where(network: nn.Module, images: Tensor) -> torch.device:
    """The device that a network is on; of one without weights, that of the images."""
    held = (*network.parameters(), *network.buffers())
    return held[0].device if held else images.device


def checked(images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Images as float32 and labels as int64, both on the CPU; refused where they are not what an attack needs."""
    if not isinstance(images, Tensor) or images.ndim < 2 or not images.is_floating_point():
        raise InputError("images: expected a tensor of floating numbers, (samples, ...)")
    if not isinstance(labels, Tensor) or labels.ndim != 1 or labels.is_floating_point() or labels.dtype == torch.bool:
        raise InputError("labels: expected a tensor of whole numbers, (samples,)")
    if len(images) != len(labels) or not len(images):
        raise InputError(f"{len(images)} images and {len(labels)} labels: one each is needed, and at least one")
    clean = images.detach().float().cpu()
    low, high = float(clean.min()), float(clean.max())
    if not (low >= 0 and high <= 1):  # also where they are no numbers
        raise DataError(
            f"images from {low:g} to {high:g}: pixels from 0 to 1 are needed; normalising belongs into the network"
        )
    if int(labels.min()) < 0:
        raise InputError(f"labels from {int(labels.min())}: expected classes from 0")
    return clean, labels.detach().long().cpu()


def check_numbers(of: str, settings: Mapping[str, Any]) -> None:
    """Sizes are positive, and a pixel's are at most 1; counts are whole and at least 1."""
    most = math.inf if settings.get("norm") == "l2" else 1
    for name, value in settings.items():
        if name in ("steps", "targets", "queries", "searches", "restarts"):
            checks.whole(name, value, of=of)
        elif name in ("eps", "step") and not _size(value, most):
            expected = "expected a number above 0" + (" and at most 1 (pixels go from 0 to 1)" if most == 1 else "")
            raise InputError(f"{of}: {name} {shown(value)}, {expected}")


def _size(value: object, most: float) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most)
