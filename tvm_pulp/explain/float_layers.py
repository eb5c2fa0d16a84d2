"""One line about what runs float: how many layers, what share of the time, and why."""

from collections.abc import Mapping, Sequence

from tvm_pulp.explain.explain_nodes import why_float
from tvm_pulp.frontend.imported import SourceNode
from tvm_pulp.grouped import grouped
from tvm_pulp.qnn.network import Layer, Network, Tensor

# Reasons beyond these are counted only.
_SHOWN = 2


def float_layers(network: Network) -> list[Layer]:
    """Layers that read or write floats, or have some inside."""
    return [layer for layer in network.layers if layer.has_floats]


def float_sentence(
    network: Network, nodes: Sequence[SourceNode] = (), cycles: Mapping[str, int] | None = None
) -> str | None:
    """None where nothing is float; `cycles` are expected ones by layer name."""
    found = float_layers(network)
    if not found:
        return None
    expected = cycles or {}
    total = sum(expected.values())
    share = f" (about {100 * sum(expected.get(f.name, 0) for f in found) / total:.0f} % of the time)" if total else ""
    ends = {t.storage for t in (*network.inputs, *network.outputs)}
    reasons = grouped((_ends_reason(layer, ends) or why_float(layer, nodes), layer) for layer in found)
    ordered = sorted(reasons.items(), key=lambda r: (-sum(expected.get(f.name, 1) for f in r[1]), -len(r[1])))
    shown = [f"{len(layers)} because {reason}" for reason, layers in ordered[:_SHOWN]]
    rest = sum(len(layers) for _, layers in ordered[_SHOWN:])
    shown += [f"{rest} for other reasons (see `tvmc explain`)"] if rest else []
    many = "layers run" if len(found) > 1 else "layer runs"
    return f"{len(found)} {many} float{share}: {'; '.join(shown)}"


def _ends_reason(layer: Layer, ends: set[Tensor]) -> str:
    """A layer between integers and floats of the caller."""
    data = [t for t in layer.inputs if t.kind != "constant"]
    kinds = {t.spec.dtype.startswith("float") for t in (*data, *layer.outputs)}
    touches = any(t.storage in ends and t.spec.dtype.startswith("float") for t in (*data, *layer.outputs))
    if touches and kinds == {True, False} and "quantize" in layer.operator:
        return "the network's inputs and outputs are float (--io int8 or uint8 drops their conversion)"
    return ""
