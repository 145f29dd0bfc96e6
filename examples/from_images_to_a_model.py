"""From a folder of images to a model that others can use: search, train the best, export it, load it again.

The folder has one sub-folder per class, as usual; here it is made of scikit-learn's digits so that the example runs anywhere.
"""

import tempfile
from pathlib import Path

import torch
from PIL import Image

import foresee as fs


def make_folder(folder: Path) -> Path:
    """train/class/*.png and test/class/*.png, as you would have them."""
    for split, count in (("train", 400), ("test", 100)):
        batch = fs.data.load("digits", resize=8, normalise=False, split=split).batch(count, seed=0)
        for index, (image, label) in enumerate(zip(batch.inputs, batch.labels, strict=True)):
            target = folder / split / f"digit_{int(label)}"
            target.mkdir(parents=True, exist_ok=True)
            pixels = (image / image.max() * 255).clamp(0, 255).to(torch.uint8).permute(1, 2, 0).numpy()
            Image.fromarray(pixels).save(target / f"{index}.png")
    return folder


def main() -> None:
    place = Path(tempfile.mkdtemp())
    images = make_folder(place / "images")

    # The foremost of the search are trained, and validation names the best of them.
    run = fs.search(
        "nasbench201",
        space_settings={"channels": 8, "cells": 1},
        budgets=[fs.budgets.params < 30e3],
        data=str(images),
        inputs=(3, 8, 8),
        evaluations=10,
        finalists=2,
        train_best=2,
        recipe=fs.recipe("fast", epochs=8, batch=32),
        out=place / "run",
    )
    best = run.trained.best
    print(f"best {best.candidate.architecture}, {100 * best.trained.accuracy:.0f} % of the test images right")

    # Pixels from 0 to 1 go in: the exported program normalises by itself.
    exported = fs.export(run, place / "model", formats=["safetensors", "torch_export"], pixels=True)
    for name, file in exported.description.files.items():
        print(f"{name}: {file.file}, largest difference {file.difference:.1e}")

    # Others need torch alone ...
    program = torch.export.load(exported.folder / "model.pt2").module()
    picture = fs.data.load(images, resize=8, normalise=False, split="test").batch(1, seed=1)
    with torch.no_grad():
        said = program(picture.inputs).argmax(1).item()
    print(f"the program says {exported.description.classes[said]}")

    # ... and with foresee it is a network again.
    network = fs.load_exported(exported.folder)
    with torch.no_grad():
        print(f"the network says {exported.description.classes[network(picture.inputs).argmax(1).item()]}")


if __name__ == "__main__":
    main()
