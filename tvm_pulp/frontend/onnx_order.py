"""Execution order of an ONNX graph: proven complete and acyclic."""

import heapq
from collections.abc import Collection
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_protos import label


def execution_order(nodes: Collection[Any], known: Collection[str], outputs: Collection[str]) -> list[Any]:
    """The nodes so that each follows its operands; the file's order where that is already valid.

    `known` are inputs and constants. Values that nothing produces, values produced twice, and cycles are user errors.
    """
    protos = list(nodes)
    maker: dict[str, int] = {}
    for index, proto in enumerate(protos):
        for name in proto.output:
            if name and (name in maker or name in known):
                raise UserError(f"{label(proto)} produces '{name}', which exists already: names must be unique")
            maker[name] = index
    maker.pop("", None)
    for proto in protos:
        for name in proto.input:
            refuse_if(
                name and name not in maker and name not in known,
                f"{label(proto)} reads '{name}', which nothing produces: the file lacks an initializer or an input",
            )
    for name in outputs:
        if name not in maker and name not in known:
            raise UserError(f"the graph's output '{name}' is produced by nothing: the file lacks a node")
    readers: list[list[int]] = [[] for _ in protos]
    missing = []
    for index, proto in enumerate(protos):
        sources = {maker[name] for name in proto.input if name in maker}
        missing.append(len(sources))
        for source in sources:
            readers[source].append(index)
    ready = [index for index, count in enumerate(missing) if not count]
    ordered = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(protos[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    if len(ordered) < len(protos):
        stuck = next(proto for proto, count in zip(protos, missing, strict=True) if count)
        raise UserError(f"the graph has a cycle through {label(stuck)}: a network must be acyclic")
    return ordered
