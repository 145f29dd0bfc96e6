"""`foresee export`: a trained network, or several that answer together, as files that others can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from foresee.cli.app import app, out
from foresee.cli.options import NetworkCode, SpaceCode


@app.command()
def export(
    trained: Annotated[
        Path,
        typer.Argument(help="the folder of a training or of an ensemble, or a checkpoint (last.safetensors)"),
    ],
    to: Annotated[
        Path | None, typer.Option("--out", help="folder to write", show_default="exported, in the first folder")
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="safetensors, torch_export (.pt2) or onnx; several times for several",
            show_default="safetensors and torch_export",
        ),
    ] = None,
    pixels: Annotated[
        bool | None,
        typer.Option(
            "--pixels/--normalised",
            help="the programs normalise by themselves and take pixels from 0 to 1",
            show_default="pixels of an ensemble, normalised of a network",
        ),
    ] = None,
    network: NetworkCode = None,
    space: SpaceCode = None,
    input_: Annotated[
        str | None,
        typer.Option("--input", help="shape of one sample, such as 3x32x32", show_default="the architecture's own"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace an export that is there")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what model.json says")] = False,
) -> None:
    """Write a trained network or an ensemble in forms that others can use; each file is read again and compared.

    The folder also holds a README and use.py, which runs the model without foresee (but for safetensors alone).

    Example: foresee export runs/first --out exported --format safetensors --format torch_export --pixels

    Example: foresee export runs/e --format onnx
    """
    import torch

    from foresee.cli.networks import make
    from foresee.spaces import load_object
    from foresee.task import parse_shape
    from foresee.training.export import export as write

    code = None if network is None else make(load_object(network), network, 0)
    example = None if input_ is None else torch.zeros(1, *parse_shape(input_))
    folder = to or (trained if trained.is_dir() else trained.parent) / "exported"
    formats = format_ or ["safetensors", "torch_export"]
    made = write(trained, folder, formats, example=example, pixels=pixels, code=code, space=space, overwrite=overwrite)
    if as_json:
        print(json.dumps(made.description.to_json(), indent=2))
    else:
        _show(made)


def _show(made: Any) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("file", "largest difference", "allowed", "read again by"):
        table.add_column(column, justify="right" if column in ("largest difference", "allowed") else "left")
    for one in made.description.files.values():
        table.add_row(one.file, f"{one.difference:.3g}", f"{one.tolerance:.3g}", escape(one.by))
    out.print(table)
    out.print(f"exported to {escape(str(made.folder))}; python use.py there runs it", soft_wrap=True, highlight=False)
