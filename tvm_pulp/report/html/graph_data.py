"""The partitioned network: layers as nodes in ranks, tensors as edges."""

from collections.abc import Mapping
from typing import Any


def graph_data(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Nodes (`rank` counts from the inputs) and edges of places in the list; None for archives that do not say.

    Inputs and outputs of the network are nodes without a layer.
    """
    layers = facts["layers"]
    if not all("reads" in layer for layer in layers):
        return None
    nodes: list[dict[str, Any]] = []
    makers: dict[str, int] = {}
    edges: list[list[int]] = []
    for number, layer in enumerate(layers):
        sources = set()
        for name in layer["reads"]:
            if name not in makers:
                makers[name] = len(nodes)
                nodes.append({"name": name, "rank": 0, "end": "input"})
            sources.add(makers[name])
        rank = 1 + max((nodes[source]["rank"] for source in sources), default=0)
        edges += [[source, len(nodes)] for source in sorted(sources)]
        makers |= dict.fromkeys(layer["writes"], len(nodes))
        nodes.append({"name": layer["name"], "layer": number, "rank": rank, "shape": ", ".join(layer["output"])})
    read = {source for source, _ in edges}
    for place, node in enumerate(list(nodes)):
        if place not in read and "layer" in node:
            edges.append([place, len(nodes)])
            nodes.append({"name": "output", "rank": node["rank"] + 1, "end": "output"})
    return {"nodes": nodes, "edges": edges}
