"""Partitioning as planning needs it: the network of the module in which every chosen region is a function.

It is a check of the plan, whose regions code is made of; where a pass of an engine changes the module, it is planned.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax

from tvm_pulp.planning.lowering import legalize_float, rebuild_network
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.partition import partition
from tvm_pulp.uma.region import Region


def partition_network(network: Network, regions: Sequence[Region], backends: Sequence[UMABackend] = ()) -> Network:
    """Partition a network's module, run the engines' `post_partition` passes on it, and build its network again."""
    assert network.origin is not None
    module = partition(network.origin.module, [region for region in regions if region.layer.variables])
    for backend in backends:
        if backend.has_relax_passes("post_partition"):
            module = _after_passes(module, backend)
    return rebuild_network(network, module)


def _after_passes(module: Any, backend: UMABackend) -> Any:
    """The module after an engine's passes; what they brought along is lowered as everything else."""
    module = legalize_float(backend.run_relax_passes("post_partition", module))
    try:
        relax.analysis.well_formed(module)
    except Exception as error:  # TVM's checks assert, in many classes
        reason = " ".join(str(error).split())[:200]
        name = f"post_partition of uma-{backend.target_name}"
        raise RuntimeError(f"{name} leaves a module that is not well formed: {reason}") from None
    return module
