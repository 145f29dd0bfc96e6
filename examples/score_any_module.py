"""Score and rank networks of your own, in one line each, without training them."""

import torch
from torch import nn

import foresee as fs


def plain(width: int) -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()),
        *(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)),
    )


def main() -> None:
    torch.manual_seed(0)
    batch = fs.data.load("digits").batch(32, seed=0)

    score = fs.score(plain(16), batch, proxy="dextr")
    print(score, f"({score.seconds:.3f} s)")

    # A proxy that does not apply says so; it never returns a magic number.
    print(fs.score(plain(16), batch.inputs, proxy="snip"))

    ranking = fs.rank({f"width {w}": plain(w) for w in (4, 16, 32)}, batch, proxies=["dextr", "naswot", "params"])
    print(ranking)


if __name__ == "__main__":
    main()
