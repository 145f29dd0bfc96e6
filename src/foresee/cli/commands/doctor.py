"""`foresee doctor`: what is installed, which device, which extras are missing and how to get them."""

from __future__ import annotations

import json
import shutil
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False) -> None:
    """Say what is installed, which device would be used, which extras are missing, and what plug-ins are broken."""
    facts = _facts()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column()
    for key, value in facts["installed"].items():
        table.add_row(key, escape(str(value)))
    for name, device in facts["devices"].items():
        table.add_row(name, escape(device))
    for library, extra in facts["extras"].items():
        table.add_row(
            library,
            "[green]there[/green]" if extra["there"] else f"[yellow]missing[/yellow]: {escape(extra['remedy'])}",
        )
    for kind, count in facts["registered"].items():
        table.add_row(kind, str(count))
    for name, reason in facts["broken_plugins"].items():
        table.add_row(name, f"[red]broken plug-in[/red]: {escape(reason)}")
    out.print(table)


def _facts() -> dict[str, Any]:
    import torch

    from foresee.extras import EXTRAS, available
    from foresee.proxies import proxies
    from foresee.runs.engines import engines
    from foresee.runs.environment import environment
    from foresee.searchers import searchers
    from foresee.spaces import spaces

    devices = {"cpu": f"{torch.get_num_threads()} torch threads"}
    for index in range(torch.cuda.device_count()):
        memory = torch.cuda.get_device_properties(index).total_memory
        devices[f"cuda:{index}"] = f"{torch.cuda.get_device_name(index)}, {memory / 2**30:.0f} GiB"
    if torch.backends.mps.is_available():
        devices["mps"] = "Apple GPU"
    return {
        "installed": environment(),
        "devices": devices,
        "extras": {
            library: {"there": available(library), "remedy": f"pip install 'foresee[{extra}]'"}
            for library, extra in EXTRAS.items()
        }
        | {
            "chromium": {
                "there": bool(shutil.which("chromium") or shutil.which("google-chrome")),
                "remedy": "only for testing the report; install your system's chromium package",
            }
        },
        "registered": {
            "spaces": len(spaces),
            "proxies": len(proxies),
            "searchers": len(searchers),
            "engines": len(engines),
        },
        "broken_plugins": {**spaces.broken, **proxies.broken, **searchers.broken, **engines.broken},
    }
