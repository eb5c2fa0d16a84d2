"""plan.json: what the compiler writes has the stated format; anything else is refused, with the place named."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.planning.search.real_plans import PLANS, plan_of
from tvm_pulp.codegen.formats import FormatError, PlanJson, check_record, from_json, to_json

Record = dict[str, Any]


@pytest.mark.parametrize("name", [n if n == "dscnn" else pytest.param(n, marks=pytest.mark.slow) for n in PLANS])
def test_described_plans_have_the_format(name: str) -> None:
    check_record(PlanJson, plan_of(name))


def test_a_plan_survives_writing_and_reading() -> None:
    plan = plan_of("dscnn")
    record = from_json(PlanJson, json.dumps(plan))
    text = to_json(PlanJson, record)
    assert text == json.dumps(plan) + "\n"
    assert from_json(PlanJson, text) == record


def forget_a_lead(plan: Record) -> None:
    del plan["layers"][1]["lead"]


def write_bytes_as_text(plan: Record) -> None:
    plan["blocks"][0]["bytes"] = "64"


def add_a_field(plan: Record) -> None:
    plan["l2"]["colour"] = 3


def invent_an_action(plan: Record) -> None:
    plan["program"][0]["actions"][0] = {"do": "sing"}


def forget_a_stride(plan: Record) -> None:
    step = next(n for n, s in enumerate(plan["program"]) for a in s["actions"] if a["do"] == "kernel")
    kernel = next(a for a in plan["program"][step]["actions"] if a["do"] == "kernel")
    kernel["reads"][0]["line"] = 4


def wait_for_nothing(plan: Record) -> None:
    plan["program"][0]["waits"] = [{"agent": 0}]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (forget_a_lead, r"^layers\.1\.lead: field required"),
        (write_bytes_as_text, r"^blocks\.0\.bytes: input should be a valid integer"),
        (add_a_field, r"^l2\.colour: extra inputs are not permitted"),
        (invent_an_action, r"^program\.0\.actions\.0: .*'sing'"),
        (forget_a_stride, r"^program\..*reads\.0: .*line and stride go together"),
        (wait_for_nothing, r"^program\.0\.waits\.0\."),
    ],
)
def test_a_fault_is_named(spoil: Callable[[Record], None], message: str) -> None:
    plan = copy.deepcopy(plan_of("dscnn"))
    spoil(plan)
    with pytest.raises(FormatError, match=message):
        check_record(PlanJson, plan)
    with pytest.raises(FormatError, match=message):
        to_json(PlanJson, plan)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^the file: "):
        from_json(PlanJson, "[]")
