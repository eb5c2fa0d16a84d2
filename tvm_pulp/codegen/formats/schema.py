"""The formats' common rules: fields are exact in name and type, and a fault is one sentence.

`plan.json` is the typed program itself (`planning.program`), field by field; docs/plan_json.md explains it.
"""

import json
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from tvm_pulp.codegen.formats.json_text import check_finite

_LONGEST_REASON = 240


class Schema(BaseModel):
    """Part of a file: no field beyond those that are stated, no value that would have to be converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class FormatError(ValueError):
    """Data that is not of its format: the place, and what is wrong there."""


@cache
def _adapter(schema: type) -> TypeAdapter[Any]:
    return TypeAdapter(schema)


def json_schema(schema: type) -> dict[str, Any]:
    """A format as JSON Schema."""
    return _adapter(schema).json_schema()


def _read(schema: type, text: str | bytes) -> Any:
    try:
        return _adapter(schema).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise ValueError(first["msg"]) from None
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        unknown = first["type"] == "unexpected_keyword_argument"
        reason = "extra inputs are not permitted" if unknown else first["msg"].lower()
        raise FormatError(_short(f"{place}: {reason}")) from None


def _short(text: str) -> str:
    """A reason without the most of what a file says at length."""
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= _LONGEST_REASON else f"{clean[: _LONGEST_REASON // 2]} ... {clean[-60:]}"


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


def check_record(schema: type, record: Any) -> None:
    """Raise unless plain data has the format of a schema; names the first place that does not."""
    _read(schema, json.dumps(record))


def to_json(schema: type, record: Any, indent: int | None = None) -> str:
    """The text of a file; raises where plain data is not of the format."""
    if not isinstance(record, schema):
        check_record(schema, record)
    return json.dumps(plain(record), indent=indent) + "\n"


def from_json(schema: type, text: str | bytes) -> Any:
    """The content of a file: a plan as its records, anything else as plain data. Raises where the format is another."""
    check_finite(text)
    record = _read(schema, text)
    return json.loads(text) if issubclass(schema, BaseModel) else record
