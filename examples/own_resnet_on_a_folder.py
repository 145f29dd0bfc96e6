"""Your own small ResNet for your own folder of images: nested picks, a limit on memory and parameters, one search.

The folder has one sub-folder per class, as usual; here it is made of scikit-learn's digits so that the example runs anywhere.
"""

import tempfile
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor, nn

import foresee as fs


def make_folder(folder: Path) -> Path:
    """A folder/class/*.png tree, as you would have it."""
    digits = fs.data.load("digits", normalise=False)
    batch = digits.batch(120, seed=0)
    for index, (image, label) in enumerate(zip(batch.inputs, batch.labels, strict=True)):
        target = folder / f"digit_{int(label)}"
        target.mkdir(parents=True, exist_ok=True)
        pixels = (image / image.max() * 255).clamp(0, 255).to(torch.uint8).permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(target / f"{index}.png")
    return folder


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            *(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()),
            *(nn.Conv2d(outputs, outputs, kernel, 1, kernel // 2, bias=False), nn.BatchNorm2d(outputs)),
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.main(x) + self.shortcut(x))


def resnet(pick, task) -> nn.Module:
    """Two arguments: the function also learns the task (input shape and classes of the folder)."""
    width = pick("width", [8, 12, 16])
    layers = [nn.Conv2d(task.inputs[0], width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    for stage in range(pick.integer("stages", 1, 3)):
        wider = width * pick(f"stage{stage}.widen", [1, 2])  # asked only when the stage is there
        for block in range(pick.integer(f"stage{stage}.blocks", 1, 2)):
            kernel = pick(f"stage{stage}.block{block}.kernel", [3, 5])
            layers.append(Block(width, wider, kernel, stride=2 if block == 0 else 1))
            width = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, task.outputs))


def main() -> None:
    folder = make_folder(Path(tempfile.mkdtemp()) / "images")
    data = fs.data.load(folder, resize=24)
    space = fs.spaces.own(resnet, task=data.task)
    run = fs.search(
        space,
        proxies=["dextr"],
        searcher="evolution",
        budgets=[fs.budgets.params < 60e3, fs.budgets.memory < 40e6],
        data=data,
        evaluations=20,
        seed=0,
        memory_batch=64,
        searcher_settings={"population": 8, "sample": 3},
    )
    best = run.record.best
    print(f"{data}\nbest {best.architecture}\n{best.counts['params']:,} params, dextr {best.merit:.3f}")
    print("logits", tuple(run.best.build()(data.batch(2).inputs).shape))


if __name__ == "__main__":
    main()
