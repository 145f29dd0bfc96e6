"""Settings of spaces: the keyword-only arguments of the constructor, read in one place for all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foresee.errors import InputError
from foresee.spaces import get, own, spaces
from foresee.spaces.mlp import MLP
from foresee.spaces.nasbench201 import NASBench201
from foresee.task import Task

#: for every space one value other than the default of each setting
OTHERS: dict[str, dict[str, Any]] = {
    "autoformer": {
        "embed": [24, 48],
        "mlp": [1.5],
        "heads": [1, 2],
        "depth": [2],
        "patch": 8,
        "head_dim": 8,
        "reach": 3,
        "drop_path": 0.1,
        "mutation": "published",
    },
    "darts": {"channels": 4, "layers": 5, "network": "imagenet", "auxiliary": True, "drop_path": 0.2},
    "mlp": {"widths": [4, 8], "depths": [1, 2]},
    "mobilenet": {"max_layers": 20, "walk": 0, "sampling": "published", "residual": False, "squeeze_excite": True},
    "mobile": {
        "expansions": [2.0, 4.0],
        "kernels": [3],
        "layers": [1, 2],
        "squeeze": "free",
        "each": "layer",
        "stem": 16,
        "stem_stride": 1,
        "first": 8,
        "head": 64,
    },
    "nasbench_macro": {"channels": 4, "head": 16},
    "nasbench1": {"channels": 8, "stacks": 2, "cells": 1, "variant": "reference", "sampling": "published"},
    "nasbench201": {"channels": 4, "cells": 1, "variant": "reference", "identity": "function"},
    "nasrec": {
        "blocks": 3,
        "dense_widths": [16, 32],
        "sparse_widths": [16],
        "most_inputs": 2,
        "sampling": "published",
        "identity": "token",
    },
    "nats_size": {"step": 2, "sampling": "published"},
    "resnet": {"max_layers": 20, "walk": 0, "sampling": "published", "residual": False},
    "robnet": {"channels": 8, "layers": 3, "network": "imagenet", "shared": True},
    "transnas": {"channels": 16, "head": "dense"},
}
MORE: dict[str, dict[str, Any]] = {
    "darts": {"sampling": "published_hnas", "mutation": "published_nes"},
    "nasbench1shot1_s1": {"loose_ends": "trimmed"},
}


@pytest.mark.parametrize("name", [one for one in spaces.names() if spaces[one].__module__.startswith("foresee.")])
def test_every_setting_of_every_space_is_read_back(name):
    others = next(one for prefix, one in OTHERS.items() if name.startswith(prefix)) | MORE.get(name, {})
    plain = get(name)
    assert plain.settings() == {}
    assert others.keys() <= plain.defaults().keys()
    changed = get(name, **others)
    assert changed.settings() == others
    assert list(changed.settings()) == [key for key in plain.defaults() if key in others]
    again = get(name, **json.loads(json.dumps(changed.settings())))
    assert again.settings() == others
    for key, value in others.items():
        assert get(name, **{key: value}).settings() == {key: value}


def test_the_default_given_in_another_form_is_the_default():
    assert MLP(widths=list(MLP().widths)).settings() == {}
    assert get("autoformer_tiny", embed=[240, 192, 216], mlp=(3.5, 4)).settings() == {}
    assert get("robnet", shared=0).settings() == {}


def test_subclasses_may_fix_settings_and_add_some():
    class Fixed(NASBench201):
        def __init__(self, *, cells: int = 2) -> None:
            super().__init__(channels=4, cells=cells)

    class More(NASBench201):
        def __init__(self, *, colour: str = "red", cells: int = 3, **rest: Any) -> None:
            super().__init__(cells=cells, **rest)
            self.colour = colour

    assert Fixed.defaults() == {"cells": 2}
    assert Fixed().settings() == {}
    assert Fixed(cells=5).settings() == {"cells": 5}
    assert set(More.defaults()) == {"channels", "cells", "variant", "identity", "colour"}
    assert More().settings() == {}
    assert More(cells=5, channels=2, colour="blue").settings() == {"channels": 2, "cells": 5, "colour": "blue"}


def test_the_settings_of_an_own_space_are_its_task():
    def net(pick, task):
        raise NotImplementedError

    assert own(net).settings() == {}
    assert own(net, task=Task((3,), 2)).settings() == {"task": Task((3,), 2).to_json()}


def test_a_setting_that_is_not_kept_is_named():
    class Forgetful(NASBench201):
        def __init__(self, *, colour: str = "red") -> None:
            super().__init__()
            self._colour = colour

    with pytest.raises(InputError, match=r"setting colour is not kept as `self\.colour`"):
        Forgetful().settings()
