"""One typed program: the records that schedule, TIR, estimate, verifier, plan.json and C share."""

from tvm_pulp.planning.program.actions import Step
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.program.stated_decisions import StatedDecisions, StatedLayer

__all__ = ["PlanJson", "StatedDecisions", "StatedLayer", "Step"]
