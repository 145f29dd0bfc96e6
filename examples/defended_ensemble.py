"""From images to an ensemble that withstands attacks: found before it is trained, trained, attacked, exported.

One supernet says which cells do well and differ; three are chosen by the weights that they inherit from it, and only these
are trained. Then each of the three is attacked by somebody who knows all of it, and all three answer.
"""

import tempfile
from pathlib import Path

import torch

import foresee as fs


def main() -> None:
    place = Path(tempfile.mkdtemp())

    # Any folder of images will do: --data pictures, or a path here.
    found = fs.ensemble(
        "nasbench201",
        "digits",
        size=3,
        sampler="svgd-rd",
        inputs=(3, 8, 8),
        channels=8,
        cells=1,
        supernet_epochs=6,
        epochs=6,
        batch=32,
        out=place / "e",
    )
    print(found)
    test = found.measures["test"]
    print(f"the best member errs in {100 * min(test.members):.1f} %, all together in {100 * test.error:.1f} %")

    # Pixels go from 0 to 1, and none is changed by more than 0.03.
    withstood = fs.defend(place / "e", attacks=["fgsm", "pgd"], eps=0.03, samples=50, out=place / "e" / "defence")
    print(withstood)
    pgd = withstood.defence["pgd"]
    print(
        f"under pgd the attacked member knows {100 * pgd.attacked.mean:.0f} %, the ensemble {100 * pgd.defended.mean:.0f} %"
    )

    # One program for all three; it takes pixels, and torch alone runs it.
    exported = fs.export(place / "e", place / "model", formats=["torch_export"])
    program = torch.export.load(exported.folder / "model.pt2").module()
    pictures = fs.data.load("digits", inputs=(3, 8, 8), normalise=False, split="test").batch(100)
    with torch.no_grad():
        right = program(pictures.inputs).argmax(1) == pictures.labels
    print(f"the program is right on {int(right.sum())} of 100 pictures")
    print(f"reports {place / 'e' / 'report.html'} and {place / 'e' / 'defence' / 'report.html'}")


if __name__ == "__main__":
    main()
