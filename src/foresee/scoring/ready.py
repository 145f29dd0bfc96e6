"""All that a worker needs before its first score: importing this file imports it (`foresee.runs.engines.get_ready`)."""

import foresee.scoring.scorer  # noqa: F401
from foresee.registry import import_all

for room in ("foresee.spaces", "foresee.proxies", "foresee.data"):
    import_all(room)
