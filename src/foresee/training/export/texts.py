"""What lies beside the files for people: `README.md`, and `use.py`, which runs the model without foresee where it can."""

from __future__ import annotations

from foresee.training.export.described import Description
from foresee.training.export.formats import FORMATS

_RUN = {
    "torch_export": '''
def load():
    """The program, on the CPU; it takes tensors with any number of samples first."""
    import torch

    program = torch.export.load(str(HERE / "model.pt2")).module()

    def run(*inputs):
        with torch.no_grad():
            return program(*(torch.from_numpy(np.ascontiguousarray(one)) for one in inputs)).numpy()

    return run
''',
    "onnx": '''
def load():
    """The graph in onnxruntime, on the CPU; it takes arrays with any number of samples first."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(HERE / "model.onnx"), providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]

    def run(*inputs):
        return session.run(None, dict(zip(names, inputs)))[0]

    return run
''',
    "safetensors": '''
def load():
    """The network, built again by foresee around its weights."""
    import foresee
    import torch

    network = foresee.load_exported(HERE)

    def run(*inputs):
        with torch.no_grad():
            return network(*(torch.from_numpy(np.ascontiguousarray(one)) for one in inputs)).numpy()

    return run
''',
}

_ROWS = '''

def probabilities(rows):
    """The probability of yes for each row of a log, a dictionary by column; a column that is not there is missing.

    Needs foresee: `preprocessing` says how columns become numbers.
    """
    from foresee.data.clicks.preprocessing import Preprocessing

    batch = Preprocessing.load(HERE / "preprocessing").rows(rows)
    logits = load()(*(part.numpy() for part in batch.parts))
    return 1.0 / (1.0 + np.exp(-logits[:, 0].astype(np.float64)))

'''

_USE = '''"""Runs the exported model; {needs}.

    from use import load
    run = load()
    logits = run(inputs)          # {takes}

Called as a program, it runs the example that lies beside it and compares the outputs.
"""

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent

{load}

def main():
    said = json.loads((HERE / "model.json").read_text(encoding="utf-8"))
    example = np.load(HERE / "example.npz", allow_pickle=False)
    parts = [example[f"input{{number}}"] for number in range(len(said["inputs"]))]
    logits = load()(*parts)
    difference = float(np.abs(logits - example["logits"]).max())
    print(f"logits {{logits.shape}}, largest difference {{difference:.3g}}")
    for number, row in enumerate(logits):
        best = int(row.argmax())
        print(f"sample {{number}}: {{said['classes'][best] if said['classes'] else best}}")
    limit = 1e-3 * max(1.0, float(np.abs(example["logits"]).max()))
    return 0 if difference <= limit else 1


if __name__ == "__main__":
    raise SystemExit(main())
'''

_NEEDS = {
    "torch_export": "needs torch and numpy, not foresee",
    "onnx": "needs onnxruntime and numpy, not foresee",
    "safetensors": "needs foresee",
}


def use(said: Description) -> str:
    """The program `use.py`: by the form that needs least."""
    name = next(name for name in ("torch_export", "onnx", "safetensors") if name in said.files)
    load = _RUN[name].strip("\n") + "\n" + (_ROWS if said.preprocessing is not None else "")
    return _USE.format(needs=_NEEDS[name], takes=takes(said), load=load)


def takes(said: Description) -> str:
    """What the model is called with, in words."""
    parts = [f"{kind} (N, {', '.join(map(str, shape))})" for shape, kind in said.inputs]
    if said.pixels:
        return f"{parts[0]}, pixels from 0 to 1" + "".join(f"; {part}" for part in parts[1:])
    normal = ", normalised as model.json says" if said.statistics is not None else ""
    return f"{parts[0]}{normal}" + "".join(f"; {part}" for part in parts[1:])


def readme(said: Description) -> str:
    """`README.md`: what is what."""
    lines = ["# An exported model", "", f"Takes {takes(said)}; gives logits.", ""]
    if said.statistics is not None:
        mean, std = (
            ", ".join(f"{one:.6g}" for one in several) for several in (said.statistics.mean, said.statistics.std)
        )
        done = "the programs do it by themselves" if said.pixels else "do it before"
        lines += [f"Normalising, `(x - mean) / std` by channel: mean {mean}; std {std} ({done}).", ""]
    if said.classes:
        lines += [f"Classes, in the order of the logits: {', '.join(said.classes)}.", ""]
    if said.architecture is not None:
        lines += [f"Architecture, of the space `{said.architecture['space']}`:", ""]
        lines += ["```", str(said.architecture["architecture"]), "```", ""]
    if said.ensemble is not None:
        members = said.ensemble["members"]
        what = "probabilities, handed out as logits" if said.ensemble["average"] == "probabilities" else "outputs"
        lines += [f"An ensemble: the mean of the {what}, of {len(members)} networks:", "", "```"]
        lines += [str(one["architecture"]) for one in members] + ["```", ""]
    lines += ["| file | what | largest difference from the network | allowed |", "|---|---|---|---|"]
    lines += [
        f"| `{one.file}` | {FORMATS[name].summary} | {one.difference:.3g} | {one.tolerance:.3g} |"
        for name, one in said.files.items()
    ]
    lines += ["| `model.json` | all of this for programs | | |", "| `use.py` | runs it: `python use.py` | | |"]
    lines += ["| `example.npz` | two samples and their logits | | |"]
    if said.preprocessing is not None:
        lines += ["| `preprocessing` | how the columns of a log become numbers: `probabilities` in `use.py` | | |"]
    lines += [""]
    return "\n".join(lines)
