"""Records that are made by the hundred thousand: dataclasses that nobody changes, which the type checker sees to.

A frozen dataclass sees to it while the program runs, and takes three times as long to make.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def quick_record(
    *, kw_only: bool = False, eq: bool = True, slots: bool = True
) -> Callable[[type[_Record]], type[_Record]]:
    """A decorator of such classes; equal ones have equal hashes, and without `eq` each equals only itself."""
    return dataclass(kw_only=kw_only, eq=eq, slots=slots, unsafe_hash=eq)
