"""One typed program: the records that schedule, TIR, estimate, verifier, plan.json and C share."""

from tvm_pulp.planning.program.actions import Step
from tvm_pulp.planning.program.cpu_plan_record import CpuPlanJson
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.program.stated_decisions import StatedDecisions, StatedLayer

__all__ = ["CpuPlanJson", "PlanJson", "StatedDecisions", "StatedLayer", "Step"]
