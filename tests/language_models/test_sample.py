"""Sampling in C is the integer rule that its header states."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tvm_pulp.sim.host import WARNINGS
from tvm_pulp.toolchain import build_host_library

FOLDER = Path(__file__).resolve().parents[2] / "c_runtime" / "generation"


class Sampling(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("multiplier", "top_k", "top_p", "random")]


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    built = build_host_library([FOLDER / "sample.c"], [FOLDER / "include"], extra_flags=WARNINGS, sanitize=True)
    return ctypes.CDLL(str(built))


def in_c(library: ctypes.CDLL, logits: np.ndarray, state: Sampling) -> int:
    room = np.zeros(3 * len(logits), np.uint32)
    library.tvm_pulp_sample.restype = ctypes.c_uint32
    pointers = (ctypes.c_void_p(logits.ctypes.data), len(logits), ctypes.c_void_p(room.ctypes.data))
    return int(library.tvm_pulp_sample(*pointers, ctypes.byref(state)))


def in_python(logits: np.ndarray, multiplier: int, top_k: int, top_p: int, random: int) -> tuple[int, int]:
    if multiplier == 0:
        return int(logits.argmax()), random
    weights = []
    for logit in logits.tolist():
        exponent = (int(logits.max()) - logit) * multiplier >> 16
        weights.append(0 if exponent >= 5120 else round(2**20 * 2 ** (-(exponent % 256) / 256)) >> (exponent >> 8))
    heaviest = sorted((w for w in weights if w), reverse=True)
    least = 1
    if top_k and top_k < len(weights):
        least = heaviest[min(top_k, len(heaviest)) - 1]
    if top_p and top_p < 65536:
        share = (sum(w for w in heaviest if w >= least) * top_p + 65535) >> 16
        together = 0
        for weight in heaviest:
            together += weight
            if together >= share:
                least = max(least, weight)
                break
    for shift in (13, -17, 5):
        random ^= (random << shift if shift > 0 else random >> -shift) & 0xFFFFFFFF
    kept = [(i, w) for i, w in enumerate(weights) if w >= least]
    place = random * sum(w for _, w in kept) >> 32
    for index, weight in kept:
        if place < weight:
            return index, random
        place -= weight
    raise AssertionError


@pytest.mark.parametrize("top_k", [0, 1, 5, 40])
@pytest.mark.parametrize("top_p", [0, 20000, 60000])
def test_c_chooses_as_stated(library: ctypes.CDLL, top_k: int, top_p: int) -> None:
    rng = np.random.default_rng([top_k, top_p])
    for _ in range(40):
        logits = np.rint(rng.normal(0, 30000, rng.integers(2, 64))).astype(np.int32)
        multiplier = int(rng.integers(1, 2000))
        state = Sampling(multiplier, top_k, top_p, int(rng.integers(1, 2**32)))
        expected = in_python(logits, multiplier, top_k, top_p, state.random)
        assert (in_c(library, logits, state), state.random) == expected


def test_without_temperature_the_first_of_the_largest_wins(library: ctypes.CDLL) -> None:
    assert in_c(library, np.array([3, 9, 9, -5], np.int32), Sampling(0, 0, 0, 1)) == 1


def test_extreme_logits_do_not_overflow(library: ctypes.CDLL) -> None:
    logits = np.array([-(2**31), 2**31 - 1, 0], np.int32)
    assert in_c(library, logits, Sampling(2**32 - 1, 0, 0, 5)) == 1
