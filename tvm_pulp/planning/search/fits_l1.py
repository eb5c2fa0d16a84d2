"""A check before anything is planned: layers that do not fit into L1 can be built of other operators."""

from collections.abc import Sequence

from tvm_pulp.planning.search.driver import PlanFrame
from tvm_pulp.planning.tiling.forms import LayerForms, Tiling, offered_forms
from tvm_pulp.planning.tiling.forms.cluster_forms import TiledForm
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.uma.annotate import Annotated, annotate


def fits_l1(network: Network, layers: Sequence[Layer], frame: PlanFrame, l1_bytes: int) -> bool:
    """Tell if hand-written kernels of the cores, or else an engine, run all of these layers within so many bytes.

    Layers without a kernel count as such: generated loops run them from L2 where they have to.
    """
    on_cores = offered_forms(layers, Annotated(network, ()), frame.soc, (), frame.cores)
    beyond = [entry.layer for entry in on_cores if not _fits(entry, l1_bytes)]
    if not beyond:
        return True
    contexts = frame.contexts()
    offered = offered_forms(beyond, annotate(network, contexts), frame.soc, contexts, frame.cores)
    return all(_fits(entry, l1_bytes) for entry in offered)


def _fits(entry: LayerForms, l1_bytes: int) -> bool:
    """Tell if a form fits that is not generated."""
    cuts = [c for c in entry.cuts if not isinstance(c.form, TiledForm)]
    return not cuts or any(isinstance(c.within(l1_bytes), Tiling) for c in cuts)
