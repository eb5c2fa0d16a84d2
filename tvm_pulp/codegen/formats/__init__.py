"""Data that leaves the compiler, typed: `plan.json` and `report.json` are checked when they are read."""

from tvm_pulp.codegen.formats.baseline_json import BaselineJson
from tvm_pulp.codegen.formats.json_text import read_json
from tvm_pulp.codegen.formats.metadata_json import MetadataJson, is_flat, metadata_schema
from tvm_pulp.codegen.formats.plan_ranges import read_checked_cpu_plan, read_checked_plan
from tvm_pulp.codegen.formats.report_json import ReportJson
from tvm_pulp.codegen.formats.schema import FormatError, check_record, from_json, json_schema, plain, to_json
from tvm_pulp.planning.program import CpuPlanJson, PlanJson

__all__ = [
    "BaselineJson",
    "CpuPlanJson",
    "FormatError",
    "MetadataJson",
    "PlanJson",
    "ReportJson",
    "check_record",
    "from_json",
    "is_flat",
    "json_schema",
    "metadata_schema",
    "plain",
    "read_checked_cpu_plan",
    "read_checked_plan",
    "read_json",
    "to_json",
]
