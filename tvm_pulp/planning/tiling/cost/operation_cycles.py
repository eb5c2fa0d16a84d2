"""Cycles of operations of generated kernels by core type, from `operation_cycles.yaml`, which
`scripts/fit_kernel_cycles generated` writes."""

from dataclasses import dataclass
from functools import cache
from importlib import resources

from tvm_pulp.soc.yaml_text import read_text

FILE = "operation_cycles.yaml"


@dataclass(frozen=True)
class OperationCycles:
    """Of one core."""

    call: float
    """Entering a kernel: loading its arguments, dividing the work."""
    code: float
    """Fetching the code of one operation."""
    operations: dict[str, float]
    functions: dict[str, float]
    """Of the runtime."""

    def of(self, name: str) -> float:
        """Cycles of an operation, or of a function that is called."""
        if name.startswith("call_"):
            return self.functions.get(name.removeprefix("call_"), self.functions["other"])
        return self.operations[name]


@cache
def all_operation_cycles() -> dict[str, OperationCycles]:
    """By core type, as SoC descriptions call it."""
    text = resources.files("tvm_pulp.planning.tiling.cost").joinpath(FILE).read_text(encoding="utf-8")
    return {core_type: OperationCycles(**content) for core_type, content in read_text(text).items()}


def operation_cycles(core_type: str) -> OperationCycles:
    """Of a core type; one that nobody measured counts as the first that was."""
    known = all_operation_cycles()
    return known.get(core_type) or next(iter(known.values()))
