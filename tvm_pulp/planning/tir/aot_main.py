"""The network as one TIR function, as in microTVM's ahead-of-time executor.

Its body declares where every activation lives and then calls one kernel per layer:

    layer(0)                                   # marks the beginning of a layer
    tvmgen_net_conv2d(input, conv_weight, ..., conv)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx
from tvm.ir import PointerType, PrimType

from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.qnn.network import Network, Tensor

# Name of the marker call; its argument is the layer's index.
_LAYER = "layer"


@dataclass(frozen=True)
class AotMain:
    """The function and what its buffers stand for."""

    function: Any
    buffers: dict[Tensor, Any]


def build_main(network: Network, arena: Arena, kernel_names: dict[Any, str]) -> AotMain:
    """One PrimFunc over inputs, outputs, constants and the arena."""
    buffers: dict[Tensor, Any] = {}
    parameters: list[Any] = []
    statements: list[Any] = []
    memory = tirx.Var("arena", PointerType(PrimType("uint8"), "global"))

    def buffer(tensor: Tensor) -> Any:
        storage = tensor.storage
        if storage not in buffers:
            made = tirx.decl_buffer(storage.spec.shape or (1,), storage.spec.dtype, storage.name)
            buffers[storage] = made
            if storage.kind in ("activation", "workspace"):
                place = tirx.handle_add_byte_offset(memory, arena.offsets[storage])
                statements.append(tirx.DeclBuffer(made, data=place))
            else:
                parameters.append(made)
        return buffers[storage]

    for tensor in [*network.inputs, *(t.storage for t in network.outputs), *network.constants()]:
        buffer(tensor)
    calls = []
    for index, layer in enumerate(network.layers):
        calls.append(tirx.Evaluate(tirx.call_extern("int32", _LAYER, tirx.const(index, "int32"))))
        arguments = [_address(buffer(t), t.first) for t in layer.operands]
        calls.append(tirx.Evaluate(tirx.call_extern("int32", kernel_names[layer], *arguments)))
    body = tirx.SeqStmt([*statements, *calls, tirx.Evaluate(tirx.const(0, "int32"))])
    function = tirx.PrimFunc([*parameters, memory], body).with_attr("global_symbol", f"tvmgen_{network.name}_run")
    return AotMain(function, buffers)


def begun_layer(statement: Any) -> int | None:
    """The index of the layer that begins with a statement; None where none does."""
    call = getattr(statement.value, "args", None)
    return int(call[1].value) if call and str(call[0].value) == _LAYER else None


def _address(buffer: Any, first: int) -> Any:
    """The address of an element of a buffer."""
    places = np.unravel_index(first, tuple(int(extent) for extent in buffer.shape))
    return tirx.address_of(buffer[tuple(tirx.const(int(place), "int32") for place in places)])
