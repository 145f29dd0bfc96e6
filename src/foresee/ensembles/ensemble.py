"""An ensemble: several networks that predict together, as one `nn.Module`."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foresee.ensembles.dropping import dropped, dropping
from foresee.errors import InputError, RunError, UnknownNameError
from foresee.probes.outputs import logits_of
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.training import checkpoints
from foresee.training.steps import load_weights, weights

AVERAGES = ("probabilities", "outputs")
#: the checkpoint of an ensemble
NAME = "ensemble"


class Ensemble(nn.Module):
    """The mean of what its members predict.

    With `average="probabilities"` the members' probabilities are averaged (Lakshminarayanan et al., 2017; NES) and handed out
    as logits: their softmax is the mean, so that a loss or an accuracy of the ensemble is computed as that of any network. A
    single output is a yes or no, and its sigmoid is averaged. With `outputs` the outputs themselves are (thesis, 5.2).

    Members of one architecture that evaluate without gradients are called at once, batched by torch's `vmap`; others one
    after the other.

    Args:
        members: networks with equal outputs (B, classes).
        average: what is averaged.

    >>> first, second = nn.Linear(2, 3), nn.Linear(2, 3)
    >>> together, x = Ensemble([first, second]), torch.randn(4, 2)
    >>> mean = (first(x).softmax(1) + second(x).softmax(1)) / 2
    >>> torch.allclose(together(x).softmax(1), mean)
    True
    """

    def __init__(self, members: Sequence[nn.Module], average: str = "probabilities") -> None:
        super().__init__()
        if not members:
            raise InputError("ensemble: no members; at least one network is needed")
        if average not in AVERAGES:
            raise UnknownNameError("average", str(average), AVERAGES)
        self.members = nn.ModuleList(members)
        self.average = average

    def __len__(self) -> int:
        return len(self.members)

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """What a member is called with, to logits (B, classes)."""
        return combine(self.outputs(*inputs, **named), self.average)

    def outputs(self, *inputs: Any, **named: Any) -> Tensor:
        """What each member answers, (members, B, classes)."""
        if self.at_once and not named:
            return self._batched(*inputs)
        answers = [logits_of(member(*inputs, **named)) for member in self.members]
        if any(answer.shape != answers[0].shape for answer in answers):  # no set: a tracer's shapes have no hash
            shapes = ", ".join(str(tuple(answer.shape)) for answer in answers)
            raise InputError(f"ensemble: the members' outputs have the shapes {shapes}; they have to be equal")
        return torch.stack(answers)

    @property
    def at_once(self) -> bool:
        """Whether the members can be called at once: alike, evaluating, without gradients, and more than one."""
        if len(self) == 1 or torch.is_grad_enabled() or any(one.training for one in self.modules() if one is not self):
            return False
        if not any(True for _ in (*self.members[0].parameters(), *self.members[0].buffers())):
            return False  # nothing to batch by
        first, *others = map(_form, self.members)
        return all(other == first for other in others)

    def _batched(self, *inputs: Tensor) -> Tensor:
        values, buffers = torch.func.stack_module_state(list(self.members))
        first = self.members[0]
        # a copy of its modules that shares the tensors, whatever these are while somebody else calls it functionally
        skeleton = copy.deepcopy(first, {id(one): one for one in (*first.parameters(), *first.buffers())})

        def answer(values: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
            return logits_of(torch.func.functional_call(skeleton, (values, buffers), inputs))

        found: Tensor = torch.vmap(answer)(values, buffers)
        return found

    # -- kept ---------------------------------------------------------------------------------------------------------
    def save(self, folder: str | Path, candidates: Sequence[Candidate] = ()) -> Path:
        """Weights of all members, `ensemble.safetensors` with `ensemble.json`.

        Args:
            folder: where.
            candidates: the members' architectures as they were built, so that `load` can build them again.
        """
        if candidates and len(candidates) != len(self):
            raise InputError(f"ensemble: {len(candidates)} architectures for {len(self)} members")
        facts: dict[str, Any] = {
            "members": len(self),
            "average": self.average,
            "candidates": [candidate.to_json() for candidate in candidates],
        }
        paths = [dropped(one) for one in self.members]
        if any(paths):
            facts["dropping"] = paths
        return checkpoints.write(Path(folder), NAME, weights(self), facts)

    @classmethod
    def load(
        cls, folder: str | Path, networks: Sequence[nn.Module] | None = None, *, space: Said | None = None
    ) -> Ensemble:
        """The ensemble that was kept in a folder, evaluating.

        Args:
            folder: where `ensemble.json` lies.
            networks: the members with any weights, where they came from no space.
            space: the code of an own space (a function `make_net(pick)`, a space, or `module:function`): a file is not
                followed to code.
        """
        tensors, facts = checkpoints.read(folder, NAME)
        try:
            count, average = int(facts["members"]), str(facts["average"])
            plain = list(facts["candidates"])
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{folder}: its {NAME}.json does not tell of an ensemble") from error
        if networks is None:
            if len(plain) != count:
                raise InputError(f"{folder}: keeps weights alone; hand the {count} networks over (networks=[...])")
            where = f"{folder}/{NAME}.json"
            networks = [Candidate.from_json(one, space=space, where=where).build() for one in plain]
        if len(networks) != count:
            raise InputError(f"{folder}: an ensemble of {count}, but {len(networks)} networks were handed over")
        for network, how in zip(networks, facts.get("dropping", ()), strict=False):
            if how is not None:
                dropping(network, float(how[0]), int(how[1]))
        made = cls(networks, average)
        load_weights(made, tensors)
        return made.eval()


def combine(outputs: Tensor, average: str = "probabilities") -> Tensor:
    """Outputs of members (members, B, classes) to those of their ensemble (B, classes), as `Ensemble` says.

    >>> combine(torch.tensor([[[0.0]], [[0.0]]])).tolist()
    [[0.0]]
    """
    if average == "outputs":
        return outputs.mean(0)
    if outputs.shape[-1] == 1:
        yes = torch.nn.functional.logsigmoid(outputs).logsumexp(0)
        no = torch.nn.functional.logsigmoid(-outputs).logsumexp(0)
        return yes - no
    mean: Tensor = outputs.log_softmax(-1).logsumexp(0) - math.log(len(outputs))
    return mean


def _form(network: nn.Module) -> list[tuple[Any, ...]]:
    """What two networks must have in common to be called at once: code, plain attributes, and the shapes of their tensors."""
    found: list[tuple[Any, ...]] = [
        (name, type(module), _attributes(module)) for name, module in network.named_modules()
    ]
    tensors = (*network.named_parameters(), *network.named_buffers())
    return found + [(name, one.shape, one.dtype, one.device) for name, one in tensors]


def _attributes(module: nn.Module) -> list[tuple[str, Any]]:
    """The attributes of a module beside what torch keeps there; what is no plain value counts as the very thing it is."""
    own = {name: value for name, value in vars(module).items() if name not in _TORCHS}
    return [(name, value if _plain(value) else id(value)) for name, value in sorted(own.items())]


def _plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str | torch.dtype | torch.device)


#: what every module has
_TORCHS = frozenset(vars(nn.Module()))
