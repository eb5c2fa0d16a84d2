"""The model under address and undefined-behaviour checks, on legal jobs and on damaged ones."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import BACKENDS, INCLUDE, L1_BYTES, Machine, ModelLibrary
from tvm_pulp.toolchain.build import build_host_program
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE

from .random_job import RandomJob, make_random_job

LARGEST_WEIGHTS, WEIGHT_BYTES = 1 << 20, 8 << 20


@pytest.fixture(scope="module")
def program() -> Path:
    """The replay program with run-time checks."""
    sources = [*sorted((BACKENDS / "neureka" / "model").glob("*.c")), Path(__file__).with_name("replay_jobs.c")]
    return build_host_program(sources, [INCLUDE], sanitize=True)


def record(case: RandomJob, words: np.ndarray, library: ModelLibrary, seed: int) -> tuple[bytes, np.ndarray]:
    """Return the input of the replay program for one job, and the bytes of L1 it starts with."""
    with Machine(library) as machine:
        machine.l1[:] = np.random.default_rng(seed).integers(0, 256, L1_BYTES)
        case.load_into(machine)
        l1 = machine.l1.copy()
    offset = case.at.weights - WEIGHT_MEMORY_BASE if case.job.weight_memory else 0
    packed = case.packed.tobytes() if case.job.weight_memory else b""
    header = np.array([offset, len(packed)], np.uint32).tobytes()
    return words.astype("<u4").tobytes() + l1.tobytes() + header + packed, l1


def replay(program: Path, recorded: list[bytes]) -> list[tuple[int, np.ndarray]]:
    """Run recorded jobs; a finding of the checks ends the program with an error."""
    finished = subprocess.run([program], input=b"".join(recorded), capture_output=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stderr.decode(errors="replace")
    results = np.frombuffer(finished.stdout, np.uint8).reshape(-1, 1 + L1_BYTES)
    assert len(results) == len(recorded)
    return [(int(row[0]), row[1:]) for row in results]


def usable(case: RandomJob) -> bool:
    """The replay program keeps room behind the weights."""
    return not case.job.weight_memory or case.at.weights - WEIGHT_MEMORY_BASE <= WEIGHT_BYTES - LARGEST_WEIGHTS


def test_legal_jobs(program: Path, library: ModelLibrary) -> None:
    """No finding, no fault, and the reference's bytes."""
    cases = [case for case in map(make_random_job, range(1000, 1040)) if usable(case)]
    recorded = [record(case, np.array(case.words), library, seed) for seed, case in enumerate(cases)]
    results = replay(program, [data for data, _ in recorded])
    for case, (_, before), (faulted, after) in zip(cases, recorded, results, strict=True):
        assert not faulted
        np.testing.assert_array_equal(after, case.expected_l1(before), err_msg=str(case.job))


def test_damaged_jobs(program: Path, library: ModelLibrary) -> None:
    """Flipped register bits end in a fault or in some result, never in undefined behaviour or a wild access."""
    random = np.random.default_rng(7)
    recorded = []
    for seed in range(2000, 2120):
        case = make_random_job(seed)
        if not usable(case):
            continue
        words = np.array(case.words, np.uint32)
        for _ in range(int(random.integers(1, 4))):
            words[random.integers(24)] ^= np.uint32(1 << int(random.integers(32)))
        recorded.append(record(case, words, library, seed)[0])
    faults = sum(faulted for faulted, _ in replay(program, recorded))
    assert 0 < faults < len(recorded)
