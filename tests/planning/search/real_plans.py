"""Plans of several networks as plan.json has them, made once per run of the tests."""

import json
from functools import cache
from typing import Any

from tests.simulated.two_engines import BOTH, dotter
from tvm_pulp import soc
from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.codegen.formats import PlanJson, from_json, to_json
from tvm_pulp.planning.check import verify_plan
from tvm_pulp.planning.tir.describe import describe

Plan = dict[str, Any]

_DENSE = [f"dense{i}" for i in range(1, 10)]
_TURNS = {name: BOTH[i % 2] for i, name in enumerate(_DENSE)}

# Jobs and kernels in tiles; kernels in tiles; constants from L3; one core that does everything; two accelerators.
PLANS: dict[str, tuple[str, CompileOptions]] = {
    "resnet8": ("zoo:resnet8", CompileOptions(target="uma-neureka", l1=16384)),
    "dscnn": ("zoo:dscnn", CompileOptions(target="c", soc="siracusa", l1=16384)),
    "autoencoder": ("zoo:autoencoder", CompileOptions(target="c", soc="siracusa", l2=200000)),
    "one core": ("zoo:dscnn", CompileOptions(target="uma-neureka", l1=32768, cores=1, double_buffer=False)),
    "two engines": ("zoo:autoencoder", CompileOptions(target="uma-testdot,uma-neureka", pins=_TURNS)),
}


@cache
def plan_of(name: str) -> Plan:
    dotter()
    model, options = PLANS[name]
    plan: Plan = json.loads(to_json(PlanJson, describe(Compilation(model, options).lowered)))
    return plan


def faults_of(plan: Plan) -> list[str]:
    """What the verifier says of a plan."""
    return verify_plan(from_json(PlanJson, json.dumps(plan)), soc.load("siracusa"))
