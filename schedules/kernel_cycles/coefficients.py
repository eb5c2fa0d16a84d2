"""Coefficients of the cost models by core type, from `coefficients.yaml`, which `scripts/fit_kernel_cycles` writes."""

from dataclasses import dataclass
from importlib import resources

from tvm_pulp.soc.yaml_text import read_text


@dataclass(frozen=True)
class Fit:
    """Cycles per unit of work and of fetching the code of that work, and errors on calls that the fit did not see."""

    cycles: dict[str, float]
    cold_cycles: dict[str, float]
    median_error: float
    largest_error: float


def read_coefficients() -> dict[str, dict[str, Fit]]:
    """Those of the file, without what registrations add."""
    text = resources.files("schedules").joinpath("kernel_cycles/coefficients.yaml").read_text(encoding="utf-8")
    return {core: {k: Fit(**entry) for k, entry in kernels.items()} for core, kernels in read_text(text).items()}


# By core type, as SoC descriptions call it, and kernel.
COEFFICIENTS = read_coefficients()
