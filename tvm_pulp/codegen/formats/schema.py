"""What the formats have in common: fields are exact in name and type, and a fault is one sentence."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError


class Schema(BaseModel):
    """Part of a file: no field beyond those that are stated, no value that would have to be converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class FormatError(ValueError):
    """Data that is not of its format: where, and what is wrong there."""


def check_record(schema: type[Schema], record: Any) -> None:
    """Raise unless plain data has the format of a schema; names the first place that does not."""
    try:
        schema.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise FormatError(f"{place}: {first['msg'].lower()}") from None


def to_json(schema: type[Schema], record: Any, indent: int | None = None) -> str:
    """The text of a file; raises where the record is not of the format."""
    check_record(schema, record)
    return json.dumps(record, indent=indent) + "\n"


def from_json(schema: type[Schema], text: str | bytes) -> Any:
    """The record in a file; raises where the text is not JSON or not of the format."""
    record = json.loads(text)
    check_record(schema, record)
    return record
