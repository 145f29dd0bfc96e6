"""Work that ends the process it is done in."""

from __future__ import annotations

import os
import signal


class DieOnce:
    """Kills its worker for negative payloads, the first time it is called with one, or always."""

    def __init__(self, folder, always=False):
        self.folder, self.always = folder, always

    def __call__(self, payload):
        mark = os.path.join(self.folder, f"{payload}")
        if payload < 0 and (self.always or not os.path.exists(mark)):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return payload * 2
