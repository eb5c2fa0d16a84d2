"""Forms that a user states by --decide: checked, and kept by the search."""

from tvm_pulp.errors import refuse_if
from tvm_pulp.planning.cpu.kernel_offers import LOOPS, KernelOffers
from tvm_pulp.planning.cpu.plan import CpuRequest
from tvm_pulp.qnn.network import Network


def stated_forms(network: Network, request: CpuRequest, offers: KernelOffers) -> dict[str, str]:
    """Forms by the names of layers; a user error where something is stated that is not decided here."""
    stated, layers = request.stated, {layer.name: layer for layer in network.layers}
    for name in ("order", "levels"):
        refuse_if(getattr(stated, name), f"--decide: {name} has no effect on --soc {request.soc}: drop it")
    for name, wanted in stated.layers.items():
        refuse_if(name not in layers, f"--decide: there is no layer '{name}': the layers are {', '.join(layers)}")
        refuse_if(
            wanted.engine is not None or wanted.tile is not None,
            f"--decide: layer '{name}': engine and tile have no effect on --soc {request.soc}: drop them",
        )
        offered = [o.form.name for o in offers.of(layers[name]) if o.call is not None]
        refuse_if(
            wanted.form is not None and wanted.form not in (*offered, LOOPS),
            f"--decide: layer '{name}' has no form '{wanted.form}': choose one of {', '.join([*offered, LOOPS])}",
        )
    return {name: wanted.form for name, wanted in stated.layers.items() if wanted.form is not None}
