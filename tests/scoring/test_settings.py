from __future__ import annotations

import pytest

from foresee.errors import InputError
from foresee.scoring import ScoringSettings
from foresee.task import Task


def test_names_are_resolved_at_the_door():
    made = ScoringSettings(proxies=["grad-norm", "dextr"], proxy_settings={"grad-norm": {"initialise": "he"}})
    assert made.proxies == ("grad_norm", "dextr")
    assert made.proxy_settings == {"grad_norm": {"initialise": "he"}}
    with pytest.raises(InputError, match="twice"):
        ScoringSettings(proxies=("grad-norm", "grad_norm"))
    with pytest.raises(InputError, match="at least one"):
        ScoringSettings(proxies=())


@pytest.mark.parametrize("field", ["outputs", "batch_size", "repeats", "threads"])
def test_numbers_begin_at_one(field):
    with pytest.raises(InputError, match=f"{field} = 0: at least 1"):
        ScoringSettings(**{field: 0})


def test_the_task_is_the_datas_with_what_is_asked_for():
    clicks = Task((13,), 2, vocabularies=(5, 7))
    assert ScoringSettings().fitted(clicks) == clicks
    assert ScoringSettings(outputs=1).fitted(clicks) == Task((13,), 1, vocabularies=(5, 7))
    assert ScoringSettings(inputs=(3, 8, 8)).fitted(Task((3, 32, 32), 10)) == Task((3, 8, 8), 10)
