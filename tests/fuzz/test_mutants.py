"""Mutants of valid models: every one compiles or exits with status 2 and one sentence; no crash, hang or hunger."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import onnx_mutations, seed_models
from tests.fuzz.campaign import Outcome, Worker, judge

# Cases of the default run and of the slow set.
FEW, MANY = 120, 5000
Mutation = Callable[[np.random.Generator, bytes], bytes]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started = Worker()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Mutation]]:
    """Valid model files with the mutation that suits their format."""
    folder = tmp_path_factory.mktemp("seeds")
    found: list[tuple[Path, Mutation]] = []
    for name, build in seed_models.ONNX.items():
        path = folder / f"{name}.onnx"
        path.write_bytes(build(np.random.default_rng(1)).SerializeToString())
        found.append((path, onnx_mutations.mutate))
    try:
        import ai_edge_litert  # noqa: F401
    except ImportError:
        return found  # without the schema there is no way to write TFLite seeds
    tflite = seed_models.write_tflite(folder, np.random.default_rng(2))
    return found + [(path, onnx_mutations.mutate_bytes) for path in tflite]


def _campaign(worker: Worker, seeds: list[tuple[Path, Mutation]], folder: Path, numbers: range) -> Outcome:
    outcome = Outcome()
    for number in numbers:
        rng = np.random.default_rng([8, number])
        path, mutation = seeds[number % len(seeds)]
        mutant = folder / f"{number}{path.suffix}"
        mutant.write_bytes(mutation(rng, path.read_bytes()))
        if judge(worker.run(mutant), f"{number} ({path.name})", outcome):
            mutant.unlink()
    return outcome


def _report(outcome: Outcome) -> str:
    return f"{len(outcome.failures)} failures, statuses {dict(outcome.statuses)}\n" + "\n".join(outcome.failures[:5])


def test_seeds_compile(worker: Worker, seeds: list[tuple[Path, Mutation]]) -> None:
    outcome = Outcome()
    for path, _ in seeds:
        judge(worker.run(path), path.name, outcome)
    assert outcome.statuses == {0: len(seeds)} and not outcome.failures, _report(outcome)


def test_few_mutants(worker: Worker, seeds: list[tuple[Path, Mutation]], tmp_path: Path) -> None:
    outcome = _campaign(worker, seeds, tmp_path, range(FEW))
    assert not outcome.failures, _report(outcome)
    # Mutations that nothing survives, or that nothing notices, would prove little.
    assert outcome.statuses[0] >= FEW // 20 and outcome.statuses[2] >= FEW // 4, _report(outcome)


@pytest.mark.slow
def test_many_mutants(worker: Worker, seeds: list[tuple[Path, Mutation]], tmp_path: Path) -> None:
    outcome = _campaign(worker, seeds, tmp_path, range(FEW, FEW + MANY))
    assert not outcome.failures, _report(outcome)
