"""Records that are made by the hundred thousand: dataclasses that nobody changes, which the type checker sees to.

A frozen dataclass sees to it while the program runs, and takes three times as long to make.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def quick_record(
    *, kw_only: bool = False, eq: bool = True, slots: bool = True
) -> Callable[[type[_Record]], type[_Record]]:
    """A decorator of such classes; equal ones have equal hashes, and without `eq` each equals only itself."""
    return dataclass(kw_only=kw_only, eq=eq, slots=slots, unsafe_hash=eq)


def changed(record: _Record, **values: Any) -> _Record:
    """As `dataclasses.replace`, in half of its time."""
    names, read = _reader(type(record))  # type: ignore[arg-type]  # classes have hashes
    return type(record)(**{**dict(zip(names, read(record), strict=True)), **values})


@cache
def _reader(kind: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Names of what records of a class are made of, and what reads all of it; they have two fields or more."""
    names = tuple(f.name for f in fields(kind) if f.init)
    return names, attrgetter(*names)
