"""One step of a training after the other, each a pure function of what was before and its number.

The random numbers of step k (augmentation, dropped paths, dropout) come from (seed, "step", k), the rate from k: so the
weights, what the optimiser remembers, and k are all there is to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from foresee.batch import Batch, call
from foresee.data.normalising import Statistics
from foresee.devices import one_dnn_kept, usable
from foresee.errors import DataError, ForeseeError, InputError, RunError, TrainingError, said
from foresee.probes.outputs import logits_of
from foresee.seeds import derive, generator, random_states_kept
from foresee.spaces.darts.network import DropPath
from foresee.task import Task
from foresee.training import losses, schedules
from foresee.training.augmentation import augment, mixed
from foresee.training.averaging import Average
from foresee.training.checkpoints import optimiser_tensors, restore_optimiser
from foresee.training.evaluations import evaluating
from foresee.training.optimisers import optimiser, set_rate
from foresee.training.recipe import Recipe

#: on an accelerator, losses are looked at once in so many steps: looking waits for the device
LOOKED = 20


@dataclass(frozen=True, eq=False)
class StepResult:
    """What one step saw: mean loss and right answers as tensors on the device (`float()` waits for it), samples, the rate."""

    loss: Tensor
    correct: Tensor
    samples: int
    rate: float


class Training:
    """A network that is trained step by step by a recipe.

    Args:
        network: any module; it is moved to the device and trained itself, not a copy.
        recipe: all values.
        steps: how many there will be in all: the schedule's length.
        per_epoch: how many make an epoch.
        seed: of all draws.
        device: where.
        task: what goes in and out; images are augmented only where its inputs are images, or where it is not said.
        kind: of the labels (see `losses`); None: as those of the first batch are.
        teacher: a trained network whose answers are learnt from too, by the recipe's `distil`.
        statistics: what the inputs were normalised by, for augmentations that work on pixels of 0 to 1.

    >>> network = nn.Linear(4, 3)
    >>> training = Training(network, Recipe(lr=0.5), steps=20, per_epoch=20)
    >>> batch = Batch(torch.eye(4), torch.tensor([0, 1, 2, 0]))
    >>> found = [training.step(batch) for _ in range(20)]
    >>> float(found[-1].loss) < float(found[0].loss), training.number
    (True, 20)
    """

    def __init__(
        self,
        network: nn.Module,
        recipe: Recipe,
        *,
        steps: int,
        per_epoch: int,
        seed: int = 0,
        device: torch.device | str = "cpu",
        task: Task | None = None,
        kind: losses.Kind | None = None,
        teacher: nn.Module | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self.recipe, self.steps, self.per_epoch = recipe, steps, per_epoch
        self.seed, self.task, self.kind, self.statistics = seed, task, kind, statistics
        self.device = usable(device)
        self.number = 0
        layout = {"memory_format": torch.channels_last} if recipe.channels_last else {}
        self.network = network.to(self.device, **layout)  # type: ignore[call-overload]
        self.teacher = None if teacher is None or recipe.distil == 0 else teacher.to(self.device).eval()
        self.optimiser = optimiser(recipe, network)
        self.average = Average(self.network, recipe.average) if recipe.average else None
        self._parameters = [one for group in self.optimiser.param_groups for one in group["params"]]
        self._paths = [module for module in network.modules() if isinstance(module, DropPath)]
        self._dtype = getattr(torch, recipe.precision)
        self._scaler = torch.amp.GradScaler(self.device.type, enabled=recipe.precision == "float16")
        self._auxiliary = recipe.auxiliary > 0 and getattr(network, "auxiliary", None) is not None
        forward = cast("Any", network).forward_with_auxiliary if self._auxiliary else network
        self._forward: Callable[..., Any] = torch.compile(forward) if recipe.compile else forward
        self._unseen: list[tuple[int, Tensor]] = []
        self._ran = False
        self._count: int | None = None

    # -- a step -----------------------------------------------------------------------------------------------------------
    def step(self, batch: Batch) -> StepResult:
        """Learn from one batch: step number `number`."""
        if batch.labels is None:
            raise DataError("training: the data has no labels to learn from")
        recipe, number = self.recipe, self.number
        rate = schedules.rate(recipe, number, self.steps, self.per_epoch)
        set_rate(self.optimiser, rate)
        for path in self._paths:
            path.probability = schedules.drop_path(recipe, number // self.per_epoch)
        if not self.network.training:
            self.network.train()
        batch = self.moved(batch)
        with one_dnn_kept(), random_states_kept(derive(self.seed, "step", number)):
            loss, outputs, targets = self._run(batch)
            self._look(loss)
            self.optimiser.zero_grad(set_to_none=True)
            self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            if recipe.clip:
                self._scaler.unscale_(self.optimiser)
                nn.utils.clip_grad_norm_(self._parameters, recipe.clip)
            self._scaler.step(self.optimiser)
            self._scaler.update()
        self.number += 1
        if self.average is not None:
            self.average.update(self.number)
        mixed_classes = self.kind == "classes" and targets.is_floating_point()
        right = losses.correct(outputs, targets.argmax(1) if mixed_classes else targets, cast("losses.Kind", self.kind))
        return StepResult(loss.detach(), right, len(batch), rate)

    def _run(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """The loss of a batch that is on the device, the outputs, and the targets they were compared with."""
        labels = cast("Tensor", batch.labels)
        try:
            inputs, targets = self._changed(batch)
            with self.precise():
                answered = call(self._forward, inputs)
        except (torch.OutOfMemoryError, ForeseeError):
            raise
        except Exception as error:
            if self._ran or is_memory(error):
                raise
            raise InputError(f"training: the network does not run on a batch of this data: {said(error)}") from error
        outputs, side = answered if self._auxiliary else (answered, None)
        outputs = logits_of(outputs)
        if not self._ran:
            self._check_outputs(outputs, labels)
            self._ran = True
        assert self.kind is not None
        return self._loss(inputs, outputs, side, targets, self.kind), outputs, targets

    def _check_outputs(self, outputs: Tensor, labels: Tensor) -> None:
        """Once, before labels are looked up among the outputs: a device would only say that something was out of bounds."""
        count = outputs.shape[1] if outputs.ndim > 1 else 1
        self.kind = self.kind or losses.kind_of([labels], count)
        if self.kind == "classes" and labels.ndim == 1:
            self._check_labels(labels, count)

    def _check_labels(self, labels: Tensor, count: int) -> None:
        if self._ran:
            return
        needed = max(int(labels.max()) + 1, self.task.outputs if self.task is not None else 0)
        if count < needed:
            raise InputError(f"training: the network has {count} outputs, but the data has {needed} classes")

    def fits(self, batch: Batch) -> bool:
        """Whether a forward and a backward run of this batch find memory; nothing is learnt, buffers stay as they are."""
        kept = {name: one.detach().clone() for name, one in self.network.named_buffers()}
        try:
            with random_states_kept(0):
                self._run(self.moved(batch))[0].backward()  # type: ignore[no-untyped-call]
        except Exception as error:
            if not is_memory(error):
                raise
            return False
        finally:
            self.optimiser.zero_grad(set_to_none=True)
            with torch.no_grad():
                for name, one in self.network.named_buffers():
                    one.copy_(kept[name])
        return True

    def moved(self, batch: Batch) -> Batch:
        """The batch on the device, images in the recipe's memory layout."""
        last = self.recipe.channels_last

        def place(tensor: Tensor) -> Tensor:
            layout = torch.channels_last if last and tensor.ndim == 4 else torch.preserve_format
            return tensor.to(self.device, memory_format=layout)

        return batch.placed(place)

    def averaged(self) -> AbstractContextManager[None]:
        """What judging happens in: the averages of the weights, where the recipe asks for them."""
        return nullcontext() if self.average is None else self.average.used()

    def precise(self) -> AbstractContextManager[Any]:
        """What forward runs happen in: autocast, where the recipe asks for fewer digits."""
        if self.recipe.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self._dtype)

    def _changed(self, batch: Batch) -> tuple[Any, Tensor]:
        """Inputs augmented and mixed, and the targets that follow."""
        inputs, labels = batch.inputs, cast("Tensor", batch.labels)
        images = isinstance(inputs, Tensor) and inputs.ndim == 4 and inputs.is_floating_point()
        if not images or not (self.recipe.augments or self.recipe.mixes):
            return inputs, labels
        draws = generator(self.seed, "augment", self.number)
        with torch.no_grad():
            inputs = augment(inputs, self.recipe, draws, self.statistics)
            if self.recipe.mixes and not labels.is_floating_point() and labels.ndim == 1:
                classes = self._outputs(inputs)
                if classes > 1:
                    self._check_labels(labels, classes)
                    return mixed(inputs, labels, classes, self.recipe, draws)
        return inputs, labels

    def _outputs(self, inputs: Any) -> int:
        """How many outputs the network has, asked once with a single sample: soft targets have a share for each."""
        if self._count is None:
            with evaluating(self.network), torch.no_grad(), self.precise():
                found = logits_of(call(self.network, inputs[:1]))
            self._count = found.shape[1] if found.ndim > 1 else 1
        return self._count

    def _loss(self, inputs: Any, outputs: Tensor, side: Tensor | None, targets: Tensor, kind: losses.Kind) -> Tensor:
        recipe = self.recipe
        loss = losses.loss(outputs, targets, kind, recipe.label_smoothing)
        if side is not None:
            loss = loss + recipe.auxiliary * losses.loss(side, targets, kind, recipe.label_smoothing)
        if self.teacher is not None:
            with torch.no_grad(), self.precise():
                said = logits_of(call(self.teacher, inputs))
            far = losses.distil(outputs, said, kind, recipe.temperature)
            loss = (1 - recipe.distil) * loss + recipe.distil * far
        return loss

    # -- what is not a number ---------------------------------------------------------------------------------------------
    def _look(self, loss: Tensor) -> None:
        self._unseen.append((self.number, loss.detach()))
        if self.device.type == "cpu" or len(self._unseen) >= LOOKED:
            self.check()

    def check(self) -> None:
        """Raise where a loss was not finite since the last look."""
        seen, self._unseen = self._unseen, []
        if not seen or bool(torch.isfinite(torch.stack([loss for _, loss in seen])).all()):
            return
        step, loss = next(one for one in seen if not bool(torch.isfinite(one[1])))
        rate = schedules.rate(self.recipe, step, self.steps, self.per_epoch)
        raise TrainingError(
            f"the loss is {float(loss)} at step {step} (epoch {step // self.per_epoch + 1}), at a rate of {rate:.3g}; "
            "try a smaller lr, a warm-up, or clip = 5"
        )

    # -- what is kept -----------------------------------------------------------------------------------------------------
    def tensors(self) -> dict[str, Tensor]:
        """The weights and buffers (`network.*`), their averages, and what the optimiser remembers (`optimiser.*`)."""
        self.check()
        own = weights(self.network) if self.average is None else self.average.own
        state = {f"network.{key}": value for key, value in own.items()}
        if self.average is not None:
            state |= {f"average.{key}": value for key, value in self.average.tensors().items()}
        return state | {f"optimiser.{key}": value for key, value in optimiser_tensors(self.optimiser).items()}

    def facts(self) -> dict[str, Any]:
        """How far it is: plain values."""
        plain: dict[str, Any] = {"step": self.number, "seed": self.seed, "kind": self.kind}
        return plain | ({"scaler": self._scaler.state_dict()} if self._scaler.is_enabled() else {})

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Go on from what `tensors` and `facts` gave."""
        load_weights(self.network, _under("network.", tensors))
        if self.average is not None:
            self.average.restore(_under("average.", tensors))
        restore_optimiser(self.optimiser, _under("optimiser.", tensors), facts)
        self.number, self.kind = int(facts["step"]), facts.get("kind")
        self._unseen = []
        if "scaler" in facts and self._scaler.is_enabled():
            self._scaler.load_state_dict(dict(facts["scaler"]))


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory is out; on a CPU it is a plain one with these words."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)


def weights(network: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, as a network's state has them; what is no tensor is left out."""
    return {key: value for key, value in network.state_dict().items() if isinstance(value, Tensor)}


def load_weights(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put weights in place, all of them; others than the network has are named."""
    own = weights(network)
    wrong = sorted(own.keys() ^ tensors.keys())
    wrong += sorted(key for key in own.keys() & tensors.keys() if own[key].shape != tensors[key].shape)
    if wrong:
        raise RunError(
            f"the checkpoint is of another network: {len(wrong)} of its tensors do not fit, the first is {wrong[0]}"
        )
    with torch.no_grad():
        for key, value in own.items():
            value.copy_(tensors[key])


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
