"""The loop: epochs of steps, each judged; the best and the last kept; exactly where it was after any end."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.errors import RunError, TrainingError
from foresee.quantities import format_seconds
from foresee.runs.environment import environment
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.progress import OFTEN
from foresee.seeds import derive
from foresee.training.evaluations import Evaluation, evaluate
from foresee.training.interrupts import Interrupts
from foresee.training.keeping import ARCHITECTURE, TRAINING, Memory
from foresee.training.recipe import Recipe
from foresee.training.running import Running
from foresee.training.sources import Source, Sources
from foresee.training.steps import Training, is_memory, load_weights, weights
from foresee.training.trained import Epoch, Trained

#: seconds between two checkpoints within an epoch
SAVED = 60.0


class Epochs:
    """One training from beginning, or from where it was, to end.

    Args:
        network: the module.
        data: what is learnt from, and what it is judged by.
        recipe: all values.
        kept: where it is kept.
        seed: of all draws.
        device: where.
        teacher: whose answers are learnt from too, or None.
        observers: are told what happens.
        save_seconds: seconds between two checkpoints within an epoch.
        save_steps: steps between two; 0 goes by the seconds alone.
        begun: a part of the network has learnt already; what it is before its first epoch is judged and may be the best.
    """

    def __init__(
        self,
        network: nn.Module,
        data: Sources,
        recipe: Recipe,
        kept: Memory,
        seed: int,
        device: str,
        teacher: nn.Module | None,
        observers: Iterable[Observer],
        save_seconds: float = SAVED,
        save_steps: int = 0,
        *,
        begun: bool = False,
    ) -> None:
        self.data, self.recipe, self.kept, self.seed = data, recipe, kept, seed
        self.per_epoch = data.train.steps(recipe.batch)
        self.steps = self.per_epoch * recipe.epochs
        self.training = Training(
            network,
            recipe,
            steps=self.steps,
            per_epoch=self.per_epoch,
            seed=seed,
            device=device,
            task=data.train.task,
            kind=data.train.kind(),
            teacher=teacher,
            statistics=data.train.statistics,
        )
        self.tell = Announcer(observers)
        self.interrupts = Interrupts()
        self.history: list[Epoch] = []
        self.best: tuple[int, Evaluation | None] = (0, None)
        self.sums = Running()
        self.save_seconds, self.save_steps = save_seconds, save_steps
        self._saved = self._told = self._began = time.monotonic()
        self._first = 0
        self._begun = begun

    # -- the whole --------------------------------------------------------------------------------------------------------
    def run(self, architecture: dict[str, Any] | None) -> Trained:
        """Train, keep, judge."""
        asked = {
            "recipe": self.recipe.to_json(),
            "seed": self.seed,
            "data": self.data.words,
            "parameters": sum(one.numel() for one in self.training.network.parameters()),
            "teacher": self.training.teacher is not None,
        }
        stored = self.kept.begin(asked)
        if stored is not None:
            self._take_up(*stored)
        self._noted(asked, "running")
        self.kept.keep(self.data.train.preprocessing)
        if architecture is not None:
            self.kept.write(ARCHITECTURE, architecture)
        self._event("started" if stored is None else "resumed")
        self._first, self._began = self.training.number, time.monotonic()
        with self.interrupts:
            if self._begun and self.best[1] is None:
                self._compare(0, self._judge(self.data.validation))
            while not self._over():
                self._epoch()
                self._noted(asked, "running")
        return self._finish(asked)

    def _over(self) -> bool:
        """Whether all epochs are done, or as many since the best one as there is patience for."""
        done, patience = len(self.history), self.recipe.patience
        waited = done - self.best[0] if patience and self.best[1] is not None else 0
        return done >= self.recipe.epochs or waited >= max(patience, 1)

    def _finish(self, asked: dict[str, Any]) -> Trained:
        network = self.training.network
        load_weights(network, self.kept.best())
        network.eval()
        test = self._judge(self.data.test)
        trained = Trained(
            network=network,
            recipe=self.recipe,
            history=tuple(self.history),
            best_epoch=self.best[0],
            validation=self.best[1],
            test=test,
            seed=self.seed,
            data=self.data.words,
            classes=self.data.train.classes,
            facts=self._facts(),
            folder=self.kept.folder,
        )
        self.kept.write(TRAINING, {"status": "finished", "asked": asked, **trained.to_json()})
        self._event("finished", test=None if test is None else test.accuracy)
        return trained

    def _facts(self) -> dict[str, Any]:
        statistics = self.data.train.statistics
        return {
            "parameters": sum(one.numel() for one in self.training.network.parameters()),
            "device": str(self.training.device),
            "kind": self.training.kind,
            "normalised by": None
            if statistics is None
            else {"mean": list(statistics.mean), "std": list(statistics.std)},
            **environment(),
        }

    def _noted(self, asked: dict[str, Any], status: str) -> None:
        """What people read meanwhile; `last` is what counts."""
        history = [asdict(epoch) for epoch in self.history]
        self.kept.write(TRAINING, {"status": status, "asked": asked, "history": history})

    # -- an epoch ---------------------------------------------------------------------------------------------------------
    def _epoch(self) -> None:
        number = len(self.history)
        start = self.training.number - number * self.per_epoch
        began = time.monotonic()
        order = derive(self.seed, "order")
        try:
            for batch in self.data.train.epoch(self.recipe.batch, seed=order, number=number, start=start):
                self._step(batch)
                if self.interrupts.asked or self._due():
                    self.sums.seconds += time.monotonic() - began
                    began = time.monotonic()
                    self._save()
                    self.interrupts.here()
            self.training.check()
            with self.training.averaged():
                val = self._judge(self.data.validation)
            if val is not None and not math.isfinite(val.loss):
                raise TrainingError(
                    f"the loss on validation data is {val.loss} after epoch {number + 1}; try a smaller lr"
                )
        except TrainingError as error:
            raise TrainingError(f"{error}; {self.kept.where}") from error
        self._ended(number, val, time.monotonic() - began)
        self._save()
        self._event("epoch", **asdict(self.history[-1]))

    def _due(self) -> bool:
        """Whether it is time for a checkpoint."""
        by_steps = self.save_steps > 0 and self.training.number % self.save_steps == 0
        return by_steps or time.monotonic() - self._saved >= self.save_seconds

    def _ended(self, number: int, val: Evaluation | None, seconds: float) -> None:
        sums, self.sums = self.sums, Running()
        self.history.append(
            Epoch(
                number=number + 1,
                loss=sums.loss,
                accuracy=None if self.training.kind == "values" else sums.accuracy,
                val_loss=None if val is None else val.loss,
                val_accuracy=None if val is None else val.accuracy,
                rate=sums.rate,
                seconds=sums.seconds + seconds,
                val_auc=None if val is None else val.auc,
            )
        )
        self._compare(number + 1, val)

    def _compare(self, epoch: int, val: Evaluation | None) -> None:
        """Keep the weights after an epoch, where none before was better."""
        before = self.best[1]
        if val is None or before is None or val.merit > before.merit:
            self.best = (epoch, val)
            facts = {"epoch": epoch, "validation": None if val is None else val.to_json()}
            with self.training.averaged():
                self.kept.save_best(weights(self.training.network), facts)

    def _step(self, batch: Batch) -> None:
        try:
            found = self.training.step(batch)
        except Exception as error:
            if not is_memory(error):
                raise
            raise TrainingError(self._what_fits(batch)) from error
        self.sums.add(found)
        if time.monotonic() - self._told >= OFTEN:
            self._told = time.monotonic()
            self._event("step", **self._words())

    def _what_fits(self, batch: Batch) -> str:
        """Half as many samples, and half again, until they find memory."""
        size = len(batch)
        self.training.optimiser.zero_grad(set_to_none=True)
        while size > 1:
            size //= 2
            if self.training.device.type == "cuda":
                torch.cuda.empty_cache()
            if self.training.fits(batch.first(size)):
                lr = self.recipe.lr * size / len(batch)
                return (
                    f"out of memory with {len(batch)} samples in a batch; {size} would fit: batch = {size} (lr = {lr:.3g} "
                    "where the rate is to follow the batch)"
                )
        return f"out of memory with {len(batch)} samples in a batch, and with a single one too: take a smaller network"

    def _judge(self, source: Source | None) -> Evaluation | None:
        if source is None:
            return None
        training = self.training
        batches = self._heard(source.all(self.recipe.batch))
        return evaluate(training.network, batches, kind=training.kind, moved=training.moved, precise=training.precise)

    def _heard(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches, between which a Ctrl-C is heard: the steps of the epoch are saved then."""
        for batch in batches:
            if self.interrupts.asked:
                self._save()
                self.interrupts.here()
            yield batch

    # -- what is kept -----------------------------------------------------------------------------------------------------
    def _save(self) -> None:
        number, val = self.best
        facts = {
            **self.training.facts(),
            "history": [asdict(epoch) for epoch in self.history],
            "best": [number, None if val is None else val.to_json()],
            "sums": self.sums.to_json(),
        }
        self.kept.save_last(self.training.tensors(), facts)
        self._saved = time.monotonic()

    def _take_up(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        try:
            self.training.restore(tensors, facts)
            self.history = [Epoch.from_json(one) for one in facts["history"]]
            number, val = facts["best"]
            self.best = (number, None if val is None else Evaluation.from_json(val))
            self.sums = Running.from_json(facts["sums"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{self.kept.folder}/last.json: not as a training leaves it ({error})") from error

    # -- what is told -----------------------------------------------------------------------------------------------------
    def _words(self) -> dict[str, Any]:
        loss, right, rate = self.sums.loss, self.sums.accuracy, self.sums.rate
        done = self.training.number
        left = (time.monotonic() - self._began) / (done - self._first) * (self.steps - done)
        words = [f"epoch {len(self.history) + 1}/{self.recipe.epochs}", f"loss {loss:.3f}"]
        words += [] if self.training.kind == "values" else [f"{100 * right:.1f} %"]
        words += [f"rate {rate:.2g}", f"{format_seconds(left)} left"]
        return {"name": ", ".join(words), "loss": loss, "accuracy": right, "rate": rate, "left": left}

    def _event(self, kind: str, **details: Any) -> None:
        done, total = self.training.number, self.steps
        counts = {"name": f"epoch {len(self.history)}/{self.recipe.epochs}", "step": done, "steps": total}
        self.tell(Event(kind, done=done, total=total, details={**counts, "replayed": False, **details}))
