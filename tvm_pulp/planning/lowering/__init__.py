"""From a canonical module to a network of layers over named tensors: what planning and code generation work on."""

from tvm_pulp.planning.lowering.build_network import Names, build_network, rebuild_network, unused_name
from tvm_pulp.planning.lowering.legalize_float import legalize_float
from tvm_pulp.planning.lowering.same_network import same_network

__all__ = [
    "Names",
    "build_network",
    "legalize_float",
    "rebuild_network",
    "same_network",
    "unused_name",
]
