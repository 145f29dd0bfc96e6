"""Under which key a score is kept: a digest of all that it depends on, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any

from foresee.data import Data
from foresee.errors import InputError
from foresee.proxies.base import Proxy
from foresee.runs.environment import installed
from foresee.scoring.scorer import COUNTED, Scorer
from foresee.scoring.versions import code, function_code
from foresee.spaces.base import Space


class Keys:
    """The keys of one scorer's scores."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._by_proxy: dict[str, str] = {}

    def __call__(self, text: str, proxy: str, seed: int) -> str:
        """The key of an architecture's score by a proxy under a seed."""
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = self._identify(self._scorer.proxy(proxy))
        return hashlib.sha256("\n".join([self._by_proxy[proxy], text, str(seed)]).encode()).hexdigest()

    @cached_property
    def _ground(self) -> dict[str, Any]:
        """What all scores have in common, but for the data."""
        space = self._scorer.space
        own = getattr(space, "make_net", None)  # a user's own space: its code is theirs
        return {
            "foresee": installed("foresee"),
            "space": [_reference(space), space.settings(), code(type(space).__module__), own and function_code(own)],
            "task": self._scorer.task.to_json(),
            **self._scorer.beyond,
        }

    def _identify(self, proxy: Proxy) -> str:
        """All that a score by this proxy depends on, but for architecture and seed.

        One that looks at no data shares its scores between data sets.
        """
        settings = self._scorer.settings
        plain = dict(self._ground, proxy=[proxy.full_name, dict(proxy.settings), function_code(proxy.formula)])
        if proxy.name not in COUNTED:
            kind = settings.device.partition(":")[0]
            plain |= {"threads": settings.threads, "device": kind, "torch": installed("torch")}
            plain |= {"repeats": settings.repeats} if settings.repeats > 1 else {}
        if proxy.needs.data:
            size = settings.batch_size or proxy.needs.batch
            data = self._scorer.data
            plain["data"] = [data.fingerprint, proxy.needs.batches, size, *map(code, _readers(data))]
        return json.dumps(plain, sort_keys=True, default=repr)


def _readers(data: Data) -> list[str]:
    """The modules whose code reads the data: its own, and that of what it is a part of."""
    source = getattr(data, "source", None)
    return [type(data).__module__, *(_readers(source) if isinstance(source, Data) else [])]


def _reference(space: Space[Any]) -> str:
    """How a space is named: text from which it can be made again, or for one that cannot, what it is."""
    try:
        return space.reference
    except InputError:
        return repr(type(space))
