"""How many examples the property tests draw, and which: the same on every machine, or new ones to explore."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

#: what a test without a word of its own draws
USUAL = 100
#: so many times as many are drawn, at random; 0 where the examples are to be the same in every run
EXPLORE = int(os.environ.get("FORESEE_EXPLORE") or 0)


def load() -> None:
    """Choose the profile; before any test module is imported, since a `settings` object keeps what it was made under."""
    common = settings(
        deadline=None,
        print_blob=True,
        # Our fixtures only set the scene, and how long an example takes depends on the machine.
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    settings.register_profile("same", common, max_examples=USUAL, derandomize=True)
    settings.register_profile("explore", common, max_examples=USUAL * max(EXPLORE, 1), derandomize=False)
    settings.load_profile("explore" if EXPLORE else "same")
    if not EXPLORE:
        # Hypothesis also draws constants that stand in our modules loaded so far: other examples in another order of tests.
        providers.is_local_module_file = lambda path: False


def examples(many: int) -> settings:
    """So many examples; more when exploring."""
    return settings(max_examples=many * settings().max_examples // USUAL)
