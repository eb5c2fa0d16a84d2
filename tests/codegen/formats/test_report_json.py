"""report.json: what runs report has the stated format; a figure that is not known is null."""

import copy
from typing import Any

import pytest

import tvm_pulp
from tvm_pulp.codegen.formats import FormatError, ReportJson, check_record, from_json, to_json


@pytest.fixture(scope="module")
def reports() -> dict[str, dict[str, Any]]:
    return {
        "host": tvm_pulp.compile("zoo:dscnn", "c").run().report,
        "cluster": tvm_pulp.compile("zoo:dscnn", "uma-neureka").run().report,
    }


@pytest.mark.parametrize("device", ["host", "cluster"])
def test_reports_have_the_format(reports: dict[str, dict[str, Any]], device: str) -> None:
    assert from_json(ReportJson, to_json(ReportJson, reports[device])) == reports[device]


def test_the_host_knows_no_cycles(reports: dict[str, dict[str, Any]]) -> None:
    assert reports["host"]["cycles"] is None and reports["host"]["layers"][0]["cycles"] is None
    assert reports["cluster"]["cycles"] > 0 and reports["cluster"]["planner"]["name"] == "solver"


def test_a_fault_is_named(reports: dict[str, dict[str, Any]]) -> None:
    spoilt = copy.deepcopy(reports["cluster"])
    del spoilt["layers"][2]["cycles"]
    with pytest.raises(FormatError, match=r"^layers\.2\.cycles: field required"):
        check_record(ReportJson, spoilt)
    spoilt = {**reports["cluster"], "cycles": 1.5}
    with pytest.raises(FormatError, match=r"^cycles: "):
        check_record(ReportJson, spoilt)
