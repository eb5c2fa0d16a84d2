"""Names that people give a node of an exported program: its module's, else that of its function within a module."""

import re
from typing import Any

from tvm_pulp.frontend.torch_program.graph_builder import unused


class NodeNames:
    """Names of nodes, each unique.

    The first operator of a layer of `torch.nn` is called as the layer (`layer1.0.conv1`), further ones, and functions
    that a module calls, by module and function (`layer1.0/add`).
    """

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set()

    def label(self, node: Any) -> str:
        if node not in self._names:
            path, layer = _module(node)
            stem = path if layer and path not in self._taken else "/".join(p for p in (path, node.name) if p)
            name = unused(stem, self._taken)
            self._taken.add(name)
            self._names[node] = name
        return self._names[node]


def _module(node: Any) -> tuple[str, bool]:
    """Path of the innermost module, and whether it is one of PyTorch's own layers."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "", False
    path, kind = stack[-1][0], str(stack[-1][1])
    path = re.sub(r"^L\['self'\]\.?", "", str(path)).replace("slice(None, None, None)", "")
    kind = kind.removeprefix("<class '")
    return path, bool(path) and kind.startswith(("torch.nn.", "torch.ao.nn.", "torchvision."))
