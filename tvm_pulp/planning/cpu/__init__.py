"""Plans networks for a CPU by itself: one memory, or flash and RAM, and no DMA."""

from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.plan import CalledLayer, CpuPlan, CpuRequest, LoweredCpuPlan
from tvm_pulp.planning.cpu.search import plan_cpu

__all__ = ["CalledLayer", "CpuDecisions", "CpuPlan", "CpuRequest", "LoweredCpuPlan", "plan_cpu"]
