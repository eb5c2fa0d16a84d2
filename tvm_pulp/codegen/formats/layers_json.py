"""`layers.json`: places and times at which a program holds what its layers made; see `codegen.layer_captures`."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from tvm_pulp.codegen.formats.schema import Schema
from tvm_pulp.limits import MOST_AXES

_Extent = Annotated[int, Field(ge=0, le=1 << 28)]
_Extents = Annotated[list[_Extent], Field(max_length=MOST_AXES)]


class Capture(Schema):
    """A box of a layer's result, before a step, at an offset of the memory that holds it."""

    layer: str
    step: Annotated[int, Field(ge=0, le=1 << 31)]
    offset: Annotated[int, Field(ge=0, le=1 << 48)]
    shape: _Extents
    start: _Extents
    size: _Extents
    dtype: Literal[
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"
    ]


class LayersJson(RootModel[list[Capture]]):
    """The whole file."""
