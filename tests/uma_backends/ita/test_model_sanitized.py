"""The model under address and undefined-behaviour checks, on golden jobs and on damaged ones."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import BACKENDS, INCLUDE, L1_BYTES
from tvm_pulp.toolchain.build import build_host_program

from .golden_vector import GoldenVector

VECTORS = ("attn_01", "attn_02", "ffn_00", "gemm_05")


@pytest.fixture(scope="module")
def program() -> Path:
    """The replay program with run-time checks."""
    sources = [*sorted((BACKENDS / "ita" / "model").glob("*.c")), Path(__file__).with_name("replay_jobs.c")]
    return build_host_program(sources, [INCLUDE], sanitize=True)


def replay(program: Path, lists: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[int, np.ndarray]]:
    """Run lists of jobs on images; a finding of the checks ends the program with an error."""
    data = []
    for jobs, image in lists:
        l1 = np.zeros(L1_BYTES, np.uint8)
        l1[: image.size] = image
        data.append(np.uint32(len(jobs)).tobytes() + jobs.astype("<u4").tobytes() + l1.tobytes())
    finished = subprocess.run([program], input=b"".join(data), capture_output=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stderr.decode(errors="replace")
    results = np.frombuffer(finished.stdout, np.uint8).reshape(-1, 1 + L1_BYTES)
    assert len(results) == len(lists)
    return [(int(row[0]), row[1:]) for row in results]


def test_golden_jobs(program: Path, golden_data: Path) -> None:
    """No finding, no fault, and the expected bytes, with beats that wait for banks."""
    runs = [run for name in VECTORS for run in GoldenVector.load(golden_data / "ita_vectors", name).runs()]
    results = replay(program, [(jobs, image) for image, jobs, _ in runs])
    for (_, _, expected), (faulted, l1) in zip(runs, results, strict=True):
        assert not faulted
        np.testing.assert_array_equal(l1[: expected.size], expected)


def test_damaged_jobs(program: Path, golden_data: Path) -> None:
    """Flipped register bits end in a fault or in some result, never in undefined behaviour or a wild access."""
    random = np.random.default_rng(7)
    runs = [run for name in VECTORS for run in GoldenVector.load(golden_data / "ita_vectors", name).runs()]
    lists = []
    for _ in range(60):
        image, jobs, _ = runs[random.integers(len(runs))]
        damaged = jobs.copy()
        for _ in range(int(random.integers(1, 4))):
            damaged[random.integers(len(jobs)), random.integers(17)] ^= np.uint32(1 << int(random.integers(32)))
        lists.append((damaged, image))
    faults = sum(faulted for faulted, _ in replay(program, lists))
    assert 0 < faults < len(lists)
