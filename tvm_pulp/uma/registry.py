"""Discovery of accelerators: one entry point each, loaded on first use."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from tvm_pulp.engine_names import GROUP, check_targets, engine_names
from tvm_pulp.errors import UserError
from tvm_pulp.plug_ins import entry_points
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.cpu_form import CpuForm
from tvm_pulp.uma.recipe import Call, Kernel
from tvm_pulp.uma.strategy import Form

SCHEDULES = "tvm_pulp.schedules"
STEP_CALLS = "tvm_pulp.step_calls"


names = engine_names


@cache
def backend(name: str) -> UMABackend:
    """The backend of an engine; a user error when it is not installed or broken."""
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            try:
                made = entry.load()()
            except ImportError as error:
                raise UserError(f"--target uma-{name}: its package cannot be loaded ({error}); reinstall it") from None
            if not isinstance(made, UMABackend) or made.target_name != name:
                raise UserError(f"--target uma-{name}: its entry point is not a UMABackend called '{name}'")
            return made
    check_targets(f"uma-{name}")
    raise AssertionError(f"engine {name} is installed and was not found")


def backends() -> list[UMABackend]:
    """All backends, each with its variants behind it."""
    return [found for name in names() for found in (backend(name), *backend(name).variants)]


def parse_targets(text: str) -> list[UMABackend]:
    """Engines of a target list by priority; `c` alone means none."""
    return list(dict.fromkeys(backend(name) for name in check_targets(text)))


@cache
def core_schedules() -> tuple[Callable[[Layer, CostModel], Sequence[Form]], ...]:
    """Functions that offer hand-written kernels for a layer on the cores; none installed is fine."""
    return tuple(entry.load() for entry in entry_points(group=SCHEDULES))


def core_kernels(family: str) -> dict[str, list[tuple[str, str]]]:
    """By operator, hand-written kernels of the cores and the layers each takes, where schedules describe themselves."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in entry_points(group=SCHEDULES):
        described = getattr(import_module(entry.module), "described", None)
        for operator, kernels in (described(family) if described is not None else {}).items():
            found.setdefault(operator, []).extend(kernels)
    return found


def cpu_forms(operator: str) -> tuple[CpuForm, ...]:
    """Forms by which kernels of CPUs by themselves compute layers of an operator, in the order they are asked.

    The C of these kernels comes with the compiler, so that no other package can add any.
    """
    found: tuple[CpuForm, ...] = import_module("schedules.cpu").forms(operator)
    return found


@cache
def _step_calls() -> tuple[Callable[[Kernel, CostModel], Call | None], ...]:
    return tuple(entry.load() for entry in entry_points(group=STEP_CALLS))


def step_call(kernel: Kernel, costs: CostModel) -> Kernel | Call:
    """The hand-written kernel for a step on L1 buffers, where the cores' kernels have one, or the step as it is."""
    return next((call for offer in _step_calls() if (call := offer(kernel, costs)) is not None), kernel)


def has_kernel(kernel: Kernel, costs: CostModel) -> bool:
    """Tell if the cores' kernels have one for a step: generated C would be slow."""
    return isinstance(step_call(kernel, costs), Call)
