"""Decisions made into plans and held against the machine's memories; the one place that asks how large code gets."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.describe import lowered_cpu_plan
from tvm_pulp.planning.cpu.evaluate import evaluate
from tvm_pulp.planning.cpu.kernel_offers import KernelOffers
from tvm_pulp.planning.cpu.plan import CpuPlan, CpuRequest, LoweredCpuPlan
from tvm_pulp.qnn.network import Network

# Bytes of code and constants of the program of a plan.
MeasureFlash = Callable[[LoweredCpuPlan], int]


class CpuEvaluator:
    """Plans of one network. `measure_flash` compiles a plan's program, which takes a while: it is asked once a plan."""

    def __init__(self, network: Network, request: CpuRequest, measure_flash: MeasureFlash | None = None) -> None:
        self.network, self.request, self.offers = network, request, KernelOffers(request.cpu)
        self._room, self._measure = request.arena_room(network), measure_flash
        self._flash: WeakKeyDictionary[CpuPlan, int] = WeakKeyDictionary()

    def plan(self, decisions: CpuDecisions) -> CpuPlan:
        return evaluate(self.network, decisions, self.request, self.offers)

    def flash_bytes(self, plan: CpuPlan) -> int:
        """Flash that the program of a plan takes; 0 where nothing limits it."""
        if self._measure is None or self.request.flash_limit is None:
            return 0
        if plan not in self._flash:
            self._flash[plan] = self._measure(lowered_cpu_plan(plan))
        return self._flash[plan]

    def spare_flash(self, plan: CpuPlan) -> int:
        """Flash that a plan leaves; 0 where no limit is stated: it is not filled for its own sake."""
        return (self.request.flash_limit or 0) - self.flash_bytes(plan)

    def room_exceeded(self, plan: CpuPlan) -> int | None:
        """Bytes of RAM for activations where a plan takes more; None where it fits."""
        return self._room if self._room is not None and plan.arena.size > self._room else None

    def excess(self, plan: CpuPlan) -> tuple[int, int]:
        """Bytes of RAM beyond its limit, and of flash; flash is of no interest before RAM is enough."""
        room = self.room_exceeded(plan)
        return (plan.arena.size - room, 0) if room is not None else (0, max(0, -self.spare_flash(plan)))
