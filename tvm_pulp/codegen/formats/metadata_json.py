"""The part of an archive's `metadata.json` that running it relies on; whatever else it holds is not looked at here."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, model_validator

from tvm_pulp.codegen.formats.schema import Schema
from tvm_pulp.limits import LARGEST_TENSOR, MOST_AXES
from tvm_pulp.soc.compiler_flag import CompilerFlag
from tvm_pulp.soc.core_kinds import Architecture

_Dimension = Annotated[int, Field(ge=0, le=1 << 28)]
_Count = Annotated[int, Field(ge=0, le=1 << 62)]
# Cores, tokens and the like: loops go over them.
_Number = Annotated[int, Field(ge=0, le=1 << 20)]
_Figure = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
_Step = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
_ShortName = Annotated[str, Field(max_length=1000)]
_Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=1000)]
_Dtype = Literal["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
_Define = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z0-9_]*)?$")]


class _Open(Schema):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


def _check_different(what: str, values: Iterable[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"{what} '{value}' is there twice")
        seen.add(value)


class MetadataTensor(_Open):
    """An input or output and the variable that holds it; `l3`: its place there. Integers that stand for real values
    have a scale and a zero point."""

    name: _ShortName
    shape: Annotated[list[_Dimension], Field(max_length=MOST_AXES)]
    dtype: _Dtype
    symbol: _Identifier | None = None
    member: _Identifier | None = None
    scale: _Step | None = None
    zero_point: Annotated[int, Field(ge=-(1 << 31), lt=1 << 31)] | None = None
    l3: _Count | None = None

    @model_validator(mode="after")
    def _check(self) -> "MetadataTensor":
        # An axis of size zero must not hide an absurd one.
        if math.prod(max(extent, 1) for extent in self.shape) * 8 > 8 * LARGEST_TENSOR:
            raise ValueError(f"'{self.name}' is larger than {LARGEST_TENSOR >> 20} MiB")
        if (self.scale is None) != (self.zero_point is None):
            raise ValueError(f"'{self.name}' has a scale or a zero point alone")
        if any(getattr(self, name) is None for name in self.model_fields_set & {"symbol", "member", "scale", "l3"}):
            raise ValueError(f"'{self.name}' has a field without a value")
        return self


class PlannedTensor(MetadataTensor):
    """The same of a network that was planned."""

    symbol: _Identifier


class MetadataLayer(_Open):
    """A layer as reports show it."""

    name: str
    op: str
    macs: _Count
    nodes: list[str] = Field(default_factory=list)
    output: list[str]
    reads: list[str]
    writes: list[str]


class PlannedLayer(MetadataLayer):
    """The same of a network that was planned."""

    engine: str
    form: str | None
    estimated_cycles: _Count
    bound_cycles: _Count
    tiles: _Count
    dma_bytes: _Count
    deviation_lsb: _Figure
    constants: list[str] = Field(default_factory=list)


class Levels(_Open):
    """Bytes of every memory."""

    l1: _Count
    l2: _Count
    l3: _Count
    wmem: _Count


class MetadataMemory(_Open):
    """Bytes that a network needs."""

    arena_bytes: _Count
    largest_live_set_bytes: _Count
    constants_bytes: _Count


class PlannedMemory(MetadataMemory):
    """The same of a network that was planned, of every memory."""

    levels: Levels


class Entry(_Open):
    """One of a language model's programs."""

    layers: Sequence[MetadataLayer]
    memory: MetadataMemory


class Entries(_Open):
    """Programs of a language model: of one token, and others by their names."""

    decode: Entry


class Decoder(_Open):
    """A language model."""

    vocabulary: Annotated[_Number, Field(ge=1)]
    capacity: Annotated[_Number, Field(ge=1)]
    chunk: Annotated[_Number, Field(ge=1)]
    logits: _Dtype
    logit_step: _Step
    keeps_logits: bool
    encodes: bool
    given: list[PlannedTensor]
    entries: Entries

    @model_validator(mode="after")
    def _check(self) -> "Decoder":
        _check_different("what is given,", (tensor.name for tensor in self.given))
        return self


class Facts(_Open):
    """The compiler's record of any kind of archive."""

    soc: _ShortName
    target: _ShortName
    defines: list[_Define] = Field(default_factory=list)
    flags: list[CompilerFlag] = Field(default_factory=list)
    code_order: list[str] = Field(default_factory=list)
    soc_description: dict[str, Any] | None = None
    macs: _Count
    inputs: Sequence[MetadataTensor]
    outputs: Sequence[MetadataTensor]
    layers: Sequence[MetadataLayer]
    decoder: Decoder | None = None

    @model_validator(mode="after")
    def _check(self) -> "Facts":
        _check_different("input", (tensor.name for tensor in self.inputs))
        _check_different("output", (tensor.name for tensor in self.outputs))
        if "decoder" in self.model_fields_set and self.decoder is None:
            raise ValueError("'decoder' has no value")
        if self.decoder is None and not self.outputs:
            raise ValueError("the network has no output")
        return self


class FlatFacts(Facts):
    """Of a network that was not planned: for this machine, or for a CPU by itself."""

    flat: Literal[True] = True

    @model_validator(mode="after")
    def _check_machine(self) -> "FlatFacts":
        if (self.model_extra or {}).keys() & {"march", "cores", "l1_budget", "expected"}:
            raise ValueError("it is for a cluster, and for a CPU by itself")
        return self


class Expected(Schema):
    """Time and energy that the compiler expects of a program."""

    cycles: _Count
    clock_mhz: _Step
    milliseconds: _Figure
    energy_uj: _Figure | None
    energy_spread: _Figure | None


class PlannedFacts(Facts):
    """Of a network that was planned for a SoC with a cluster."""

    cores: Annotated[_Number, Field(ge=1)]
    march: Architecture
    l1_budget: _Count
    expected: Expected
    inputs: list[PlannedTensor]
    outputs: list[PlannedTensor]
    layers: list[PlannedLayer]


FactsOf = TypeVar("FactsOf", bound=Facts)


class MetadataJson(_Open, Generic[FactsOf]):
    """The file, with the facts of what the archive holds."""

    version: int
    model_name: _Identifier
    memory: MetadataMemory
    tvm_pulp: FactsOf


class PlannedMetadataJson(MetadataJson[PlannedFacts]):
    """A network for a SoC with a cluster."""

    memory: PlannedMemory


def metadata_schema(record: Mapping[str, Any]) -> type[MetadataJson[Any]]:
    """The format of a file that says so much of itself."""
    facts = record["tvm_pulp"]
    if not isinstance(facts, Mapping) or not is_flat(facts):
        return PlannedMetadataJson
    return MetadataJson[FlatFacts]


def is_flat(facts: Mapping[str, Any]) -> bool:
    """Tell if an archive's network was not planned: it is for this machine, or for a CPU by itself."""
    return facts.get("soc") == "host" or facts.get("flat") is True
