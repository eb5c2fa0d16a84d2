"""Many samples through one built program: outputs of all, accuracy, cycles."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.sim.runner import Runner


@dataclass(frozen=True)
class Evaluation:
    """Answers to all samples, in their order; figures that are not known are None."""

    outputs: dict[str, np.ndarray]
    """By name; the first axis counts samples."""
    labels: np.ndarray | None
    cycles: np.ndarray | None
    """Of the second inference with every sample."""
    seconds: float

    @property
    def samples(self) -> int:
        return len(next(iter(self.outputs.values())))

    @property
    def classes(self) -> np.ndarray:
        """The largest element of the first output, by sample."""
        first = next(iter(self.outputs.values()))
        return first.reshape(len(first), -1).argmax(axis=1)

    @property
    def accuracy(self) -> float | None:
        """Share of samples whose class is their label."""
        return None if self.labels is None else float((self.classes == self.labels).mean())

    def agreement(self, other: "Evaluation") -> tuple[int, int]:
        """Samples with the same class in both, and with the same outputs to the last bit."""
        pairs = [(a, other.outputs[name]) for name, a in self.outputs.items() if name in other.outputs]
        same = [(a == b).reshape(len(a), -1).all(axis=1) for a, b in pairs if a.shape == b.shape]
        equal = np.logical_and.reduce(same) if len(same) == len(self.outputs) else np.zeros(self.samples, bool)
        return int((self.classes == other.classes).sum()), int(equal.sum())

    def record(self) -> dict[str, Any]:
        """The figures as plain data."""
        cycles = self.cycles
        return {
            "samples": self.samples,
            "accuracy": self.accuracy,
            "cycles": None
            if cycles is None
            else {"mean": float(cycles.mean()), "least": int(cycles.min()), "most": int(cycles.max())},
            "samples_per_s": self.samples / self.seconds,
        }


def evaluate(
    runner: Runner,
    metadata: Mapping[str, Any],
    samples: Mapping[str, np.ndarray] | Sequence[np.ndarray],
    labels: np.ndarray | None,
    progress: Callable[[int, int], None],
) -> Evaluation:
    """Run every sample, first inference and second; `progress` is told how many of how many are done."""
    facts, started = metadata["tvm_pulp"], time.perf_counter()
    stacked = dict(samples) if isinstance(samples, Mapping) else {f"arr_{i}": a for i, a in enumerate(samples)}
    count = _count(stacked, labels)
    made: list[list[np.ndarray]] = []
    cycles: list[int | None] = []
    for number in range(count):
        sample = {name: array[number] for name, array in stacked.items()}
        measured = run_twice(runner, metadata, prepare_inputs(facts["inputs"], sample))
        made.append(measured.outputs)
        cycles.append(measured.statistics.cycles)
        progress(number + 1, count)
    outputs = {o["name"]: np.stack(arrays) for o, arrays in zip(facts["outputs"], zip(*made, strict=True), strict=True)}
    known = [c for c in cycles if c is not None]
    seconds = time.perf_counter() - started
    return Evaluation(outputs, labels, np.array(known) if len(known) == count else None, seconds)


def _count(stacked: Mapping[str, np.ndarray], labels: np.ndarray | None) -> int:
    """The number of samples; all arrays have as many."""
    counts = {name: len(array) if np.ndim(array) else 0 for name, array in stacked.items()}
    refuse_if(
        not counts or not all(counts.values()), "--dataset holds no samples: the first axis of an array counts them"
    )
    counts |= {"--labels": len(labels)} if labels is not None else {}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UserError(f"--dataset: arrays hold different numbers of samples ({told}): give as many of each")
    return next(iter(counts.values()))
