"""Small files in the true formats of the benchmarks, written by the tests, independently of the readers."""

from __future__ import annotations

import base64
import bz2
import json
import pickle
import struct
from collections import OrderedDict

CELLS_201 = (
    "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|skip_connect~2|",
    "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|",
    "|none~0|+|none~0|none~1|+|nor_conv_3x3~0|none~1|none~2|",
)
DATA_201 = ("cifar10-valid", "cifar10", "cifar100", "ImageNet16-120")


# -- record files -------------------------------------------------------------------------------------------------------
def crc32c(data: bytes) -> int:
    """The definition, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked(length)) + record + struct.pack("<I", masked(record))


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def nested(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def metrics_101(params: int, evaluations: list[tuple[float, ...]]) -> bytes:
    """`ModelMetrics`; an evaluation is (epoch, seconds, train, validation, test accuracy)."""
    message = b""
    for numbers in evaluations:
        inner = b"".join(double(place, number) for place, number in enumerate(numbers, 1))
        message += nested(1, inner + nested(6, b"/path/model.ckpt-1234"))
    return message + varint(2 << 3) + varint(params) + double(3, 1234.5)


def record_101(key: str, epochs: int, matrix: str, ops: str, params: int, final: tuple[float, ...]) -> bytes:
    start, half = (0.0, 0.0, 0.1, 0.1, 0.1), (epochs / 2, 500.0, 0.5, 0.5, 0.5)
    message = metrics_101(params, [start, half, (float(epochs), *final)])
    return json.dumps([key, epochs, matrix, ops, base64.b64encode(message).decode()]).encode()


# -- NAS-Bench-201 and NATS-Bench ---------------------------------------------------------------------------------------
def trial(data: str, seed: int, epochs: int, final: float, *, weights: object = None, sets: tuple[str, ...]) -> dict:
    """The state of one training: lists over epochs that end in `final` (accuracy) and `1 / final` (loss)."""
    accuracy = OrderedDict((epoch, final - (epochs - 1 - epoch)) for epoch in range(epochs))
    return {
        "name": "infer.tiny",
        "net_state_dict": weights,
        "train_acc1es": accuracy,
        "train_acc5es": None,
        "train_losses": OrderedDict((epoch, 1 / value if value else 0.0) for epoch, value in accuracy.items()),
        "train_times": OrderedDict((epoch, 2.0) for epoch in range(epochs)),
        "arch_config": {"name": "infer.tiny", "channel": 16, "num_cells": 5, "arch_str": "..."},
        "params": 0.129306,
        "flop": 15.64736,
        "seed": seed,
        "epochs": epochs,
        "latency": [0.01, 0.03],
        "eval_names": list(sets),
        "eval_acc1es": {f"{name}@{n}": value + 1 + place for place, name in enumerate(sets) for n, value in accuracy.items()},
        "eval_losses": {f"{name}@{epoch}": 0.5 for name in sets for epoch in accuracy},
        "eval_times": {f"{name}@{epoch}": 1.0 for name in sets for epoch in accuracy},
    }  # fmt: skip


def results(number: int, text: str, epochs: int, seeds: tuple[int, ...], *, weights: object = None) -> dict:
    """The state of one architecture trained for some epochs: accuracy 50 + number + seed / 1000, by data set and seed."""
    sets = {"cifar10-valid": ("x-valid", "ori-test"), "cifar10": ("ori-test",)}
    trials = {
        (data, seed): trial(
            data, seed, epochs, 50 + number + seed / 1000, weights=weights,
            sets=sets.get(data, ("x-valid", "x-test", "ori-test")),
        )
        for data in DATA_201 for seed in seeds
    }  # fmt: skip
    return {
        "arch_index": number,
        "arch_str": text,
        "all_results": trials,
        "dataset_seed": {data: list(seeds) for data in DATA_201},
        "clear_net_done": True,
    }


def api_file(texts: tuple[str, ...], hps: dict[str, tuple[int, tuple[int, ...]]], *, weights: object = None) -> dict:
    """A whole benchmark; `hps` is the key of each schedule with its epochs and seeds."""
    infos = OrderedDict(
        (number, {hp: results(number, text, epochs, seeds, weights=weights) for hp, (epochs, seeds) in hps.items()})
        for number, text in enumerate(texts)
    )
    return {"meta_archs": list(texts), "arch2infos": infos, "evaluated_indexes": set(range(len(texts)))}


def write_pbz2(path, plain) -> None:
    with bz2.open(path, "wb") as file:
        pickle.dump(plain, file, protocol=4)


# -- TransNAS-Bench-101 -------------------------------------------------------------------------------------------------
def transnas_file(archs: dict[str, list[str]]) -> dict:
    metrics = {
        "class_object": (
            "train_top1",
            "train_loss",
            "valid_top1",
            "valid_loss",
            "test_top1",
            "test_loss",
            "time_elapsed",
        ),
        "room_layout": ("train_neg_loss", "valid_neg_loss", "test_neg_loss", "time_elapsed"),
    }
    info = {"inference_time": 0.01, "encoder_params": 10, "model_params": 20, "model_FLOPs": 30, "encoder_FLOPs": 25}
    data = {
        space: {
            text: {
                task: {
                    "encoder_str": text,
                    "total_epochs": 3,
                    "metrics": {name: [1.0 + number, 9.0 + number, 5.0 + number] for name in names},
                    "model_info": dict(info),
                }
                for task, names in metrics.items()
            }
            for number, text in enumerate(texts)
        }
        for space, texts in archs.items()
    }
    return {
        "task_list": list(metrics),
        "metrics_dict": {task: list(names) for task, names in metrics.items()},
        "info_names": list(info),
        "data": data,
    }
