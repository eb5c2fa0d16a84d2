"""Cost of one call of a cluster kernel: what its code does, times coefficients fitted to the simulator.

`call_cost` takes the arguments of one call (one tile) and the machine's cost model, and returns cluster cycles of the
slowest core with data in L1 and code in the instruction caches, and the cycles by which fetching its code from L2 makes
it slower; a barrier is not included. `coefficients.yaml` states for each kernel how far it was off on calls that the
fit did not see. `scripts/fit_kernel_cycles` measures all kernels again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from schedules.kernel_cycles import pairs, rv32, tiles
from schedules.kernel_cycles.coefficients import COEFFICIENTS, Fit
from schedules.kernel_cycles.model import Fields, Work, WorkOf, given, is_four, kind_of, share, share_groups, words
from tvm_pulp.errors import UserError
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import CoreCost

__all__ = [
    "WORKS",
    "Fields",
    "Work",
    "call_cost",
    "family_of",
    "fit_of",
    "given",
    "is_four",
    "kind_of",
    "share",
    "share_groups",
    "state_costs",
]
__all__ += ["words", "work", "work_of"]

# By kernel, what its code does; schedules fill it.
WORKS: dict[str, WorkOf] = {}


@dataclass(frozen=True)
class Family:
    """A folder of `c_runtime/kernels`, as far as its kernels are not like those of the others."""

    # Kernels that only this family has, or that do their work in another way.
    works: Mapping[str, WorkOf] = field(default_factory=dict)
    # Products copy rows into scratch even where they are aligned: as pairs, for example.
    lays_out_rows: bool = False
    # Convolutions read pixels of whole words where they are.
    reads_in_place: bool = False
    # Attention takes one query after the other: its scratch holds two bytes for each key.
    one_query: bool = False
    # Integers are normalized by integers even where cores have single precision.
    normalizes_by_integers: bool = False
    # Depthwise kernels write all sums into scratch before they round them.
    keeps_sums: bool = False


_FAMILIES = {
    "rv32im": Family(pairs.WORKS, lays_out_rows=True, normalizes_by_integers=True, keeps_sums=True),
    "rv32": Family(rv32.WORKS, lays_out_rows=True),
    "tiles": Family(tiles.WORKS, reads_in_place=True, one_query=True),
}


def family_of(name: str) -> Family:
    return _FAMILIES.get(name, Family())


def work(*kernels: str) -> Callable[[WorkOf], WorkOf]:
    """Decorator: the work of calls of these kernels, whatever the cores, unless a family of cores states its own."""

    def known(function: WorkOf) -> WorkOf:
        WORKS.update(dict.fromkeys(kernels, function))
        return function

    return known


def state_costs(kernel: str, core_type: str, cycles: dict[str, float], cold_cycles: dict[str, float]) -> None:
    """Cycles per unit of work on a type of cores, of a kernel that `coefficients.yaml` does not know."""
    COEFFICIENTS.setdefault(core_type, {})[kernel] = Fit(cycles, cold_cycles, 0.0, 0.0)


def work_of(kernel: str, fields: Fields, cores: int, family: str) -> Work:
    """The work of the slowest core in a call of a family's kernel."""
    return (family_of(family).works.get(kernel) or WORKS[kernel])(fields, cores)


def _common(a: str, b: str) -> int:
    """Characters with which both begin."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _coefficient(known: dict[str, float], name: str) -> float:
    """Work that no measured call had costs as much as the dearest of its relatives."""
    if name in known:
        return known[name]
    alike = {other: _common(name, other) for other in known}
    longest = max(alike.values())
    return max(known[other] for other, length in alike.items() if length == longest)


def fit_of(kernel: str, costs: CostModel) -> Fit:
    """Costs of a kernel on these cores; a user error where nobody states them."""
    software = costs.soc.software
    if software.core_type not in COEFFICIENTS:
        raise UserError(
            f"SoC {costs.soc.name}: software.core_type '{software.core_type}' has no kernel coefficients: choose "
            f"one of {', '.join(COEFFICIENTS)}, or leave software.kernels empty for generated C"
        )
    known = COEFFICIENTS[software.core_type]
    if kernel not in known:
        raise UserError(
            f"SoC {costs.soc.name}: kernel '{kernel}' has no costs on cores of type '{software.core_type}': state them "
            "with schedules.kernel_cycles.state_costs"
        )
    return known[kernel]


def call_cost(kernel: str, fields: Fields, costs: CostModel) -> CoreCost:
    """Cost of a call of `tvm_pulp_kernel_<kernel>`."""
    work, fit = work_of(kernel, fields, costs.cores, costs.soc.software.kernels), fit_of(kernel, costs)
    cycles = sum(_coefficient(fit.cycles, name) * count for name, count in work.items() if count)
    cold = sum(_coefficient(fit.cold_cycles, name) for name, count in work.items() if count)
    return CoreCost(max(1, round(costs.core_slowdown * cycles)), round(cold), kernel)


for _kernel in tiles.WORKS:
    state_costs(_kernel, "pool", tiles.CYCLES, tiles.COLD)
    state_costs(_kernel, "pool_rv32", tiles.SCALAR_CYCLES, tiles.COLD)
