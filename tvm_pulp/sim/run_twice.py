"""Every run is two: the first inference must give what the second gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.errors import WrongAnswer
from tvm_pulp.sim.runner import Runner, Statistics, declared_statistics


@dataclass(frozen=True)
class Measured:
    """Outputs in graph order, the same after the first and the second inference, and what the second took."""

    outputs: list[np.ndarray]
    statistics: Statistics


def run_twice(
    runner: Runner, metadata: Mapping[str, Any], inputs: Sequence[np.ndarray], *, trace: bool = False
) -> Measured:
    """One inference from reset, then two from reset; WrongAnswer where their outputs differ."""
    runner.load(inputs)
    runner.run(1)
    first = runner.read_back()
    runner.load(inputs, trace=trace)
    runner.run(2)
    second = runner.read_back()
    check_same(metadata, first, second, "after one inference and after two")
    return Measured(second, declared_statistics(runner))


def check_same(
    metadata: Mapping[str, Any], first: Sequence[np.ndarray], second: Sequence[np.ndarray], when: str
) -> None:
    """WrongAnswer, naming the tensor, where two answers to the same inputs differ."""
    for output, a, b in zip(metadata["tvm_pulp"]["outputs"], first, second, strict=True):
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            equal = (a == b) | ((a != a) & (b != b))
            raise WrongAnswer(
                f"output '{output['name']}' is not the same {when}, in {int(np.count_nonzero(~equal))} of {a.size} "
                "values: the compiled program is wrong, please report it with the archive"
            )
