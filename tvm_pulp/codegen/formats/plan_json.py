"""`plan.json`: every decision of a plan and the program that carries them out. docs/plan_json.md explains it.

The file is the typed program itself (`planning.program`), field by field: verifier, estimate, pictures and `--plan`
read these records and nothing else of a plan. A file is checked against their types when it is read.
"""

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from tvm_pulp.planning.program.plan_record import PlanJson, Planner

__all__ = ["PlanJson", "Planner", "plain"]


def plain(value: Any) -> Any:
    """Records as dictionaries and lists, as JSON has them."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        found = ((key, getattr(value, name), omitted) for key, name, omitted in _keys(type(value)))
        return {key: plain(v) for key, v, omitted in found if v is not None or not omitted}
    return {key: plain(v) for key, v in value.items()} if isinstance(value, dict) else value


@cache
def _keys(kind: type) -> list[tuple[str, str, bool]]:
    """Key and name of a record's fields, and if None is left out. What TIR adds to a record is no part of the file."""
    said = fields(kind.__mro__[-2])
    # A key that is called otherwise in the file is the alias that reading knows.
    aliases = {f.name: m.alias for f in said for m in getattr(f.type, "__metadata__", ()) if isinstance(m, FieldInfo)}
    return [(aliases.get(f.name) or f.name, f.name, f.default is None and f.default is not MISSING) for f in said]
