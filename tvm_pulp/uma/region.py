"""A region: operators that an engine runs as one, with the pattern of the engine that found them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.record import NoAttributes


@dataclass(frozen=True)
class Region:
    """A layer that an engine could run, or runs. `engine` is what `--pin` calls it: two of them for a split layer."""

    layer: Layer
    engine: str
    pattern: str

    @property
    def composite(self) -> str:
        """The function's attribute `Composite`, as upstream writes it."""
        return f"{self.engine}.{self.pattern}"


def region_of(layer: Layer) -> Region:
    """The layer's description in its function of a partitioned module; of a split layer, the accelerator's part."""
    return Region(layer, layer.codegen.split("+")[0], layer.composite.removeprefix(f"{layer.codegen}."))


def join(parts: Sequence[Layer], variables: Sequence[object]) -> Layer:
    """Operators in order as one layer, called after the last, whose result is the region's.

    Results of all others are read inside only; they are no operands of the region.
    """
    if len(parts) == 1:
        return parts[0]
    last, made = parts[-1], {t.storage for part in parts for t in part.outputs}
    inputs: dict[Tensor, None] = {}
    for part in parts:
        for tensor in part.inputs:
            if tensor.storage not in made:
                inputs.setdefault(tensor)
    return Layer(
        last.name,
        "+".join(part.operator for part in parts),
        NoAttributes(),
        list(inputs),
        list(last.outputs),
        macs=sum(part.macs for part in parts),
        workspaces=[t for part in parts for t in part.workspaces],
        variables=tuple(variables),
        parts=tuple(parts),
        nodes=tuple(dict.fromkeys(node for part in parts for node in part.nodes)),
    )
