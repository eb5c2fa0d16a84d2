"""The part of an archive's `metadata.json` that running it relies on; whatever else it holds is not looked at here."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field

from tvm_pulp.codegen.formats.schema import Schema

_Dimension = Annotated[int, Field(ge=0, le=1 << 28)]
_Count = Annotated[int, Field(ge=0, le=1 << 62)]
_Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Dtype = Literal["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
# No file names: an archive must not make the compiler read or load others.
_Flag = Annotated[str, Field(pattern=r"^-[A-Za-z][\w=,+.-]*$")]
_Define = Annotated[str, Field(pattern=r"^\w+(=\w*)?$")]


class _Open(Schema):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Tensor(_Open):
    """An input or output and the variable that holds it."""

    name: str
    shape: Annotated[list[_Dimension], Field(max_length=16)]
    dtype: _Dtype
    symbol: _Identifier | None = None


class PlannedTensor(Tensor):
    """The same of a network that was planned."""

    symbol: _Identifier


class Layer(_Open):
    """A layer as reports show it."""

    name: str
    op: str
    macs: _Count
    nodes: list[str] = Field(default_factory=list)


class PlannedLayer(Layer):
    """The same of a network that was planned."""

    engine: str
    form: str | None
    estimated_cycles: _Count
    bound_cycles: _Count
    tiles: _Count
    dma_bytes: _Count
    deviation_lsb: int | float


class Facts(_Open):
    """The compiler's record of any kind of archive."""

    soc: str
    target: str
    defines: list[_Define] = Field(default_factory=list)
    flags: list[_Flag] = Field(default_factory=list)
    code_order: list[str] = Field(default_factory=list)
    soc_description: dict[str, Any] | None = None


class NetworkFacts(Facts):
    """Of a network."""

    macs: _Count
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    layers: Sequence[Layer]


class Expected(Schema):
    """Time and energy that the compiler expects of a program."""

    cycles: _Count
    clock_mhz: float
    milliseconds: float
    energy_uj: float | None
    energy_spread: float | None


class PlannedFacts(NetworkFacts):
    """Of a network that was planned for a SoC with a cluster."""

    cores: int
    march: str
    l1_budget: _Count
    expected: Expected
    inputs: list[PlannedTensor]
    outputs: list[PlannedTensor]
    layers: list[PlannedLayer]


class Levels(_Open):
    """Bytes of every memory."""

    l1: _Count
    l2: _Count
    l3: _Count
    wmem: _Count


class Memory(_Open):
    """Bytes that a planned network needs of every memory."""

    levels: Levels


FactsOf = TypeVar("FactsOf", bound=Facts)


class MetadataJson(_Open, Generic[FactsOf]):
    """The file, with the facts of what the archive holds."""

    version: int
    model_name: str
    tvm_pulp: FactsOf


class PlannedMetadataJson(MetadataJson[PlannedFacts]):
    """A network for a SoC with a cluster."""

    memory: Memory


def metadata_schema(record: Mapping[str, Any]) -> type[MetadataJson[Any]]:
    """The format of a file that says so much of itself."""
    facts = record["tvm_pulp"]
    if "decoder" in facts:
        return MetadataJson[Facts]
    return MetadataJson[NetworkFacts] if is_flat(facts) else PlannedMetadataJson


def is_flat(facts: Mapping[str, Any]) -> bool:
    """Tell if an archive's network was not planned: it is for this machine, or for a CPU by itself."""
    return facts.get("soc") == "host" or facts.get("flat") is True
