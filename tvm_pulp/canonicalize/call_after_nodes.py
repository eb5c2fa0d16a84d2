"""Pass: variables are called after the nodes of the model file whose results they are, as far as these are known.

Passes bind what they make under whatever name is free while the old values are still there. Now that those are gone,
every layer gets the name that the importer gave its node. Of several that one node became, the one that has the name
keeps it, else the first that computes something.
"""

import re
from typing import Any

from tvm_pulp.canonicalize.rewriter import Rewriter, is_op
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.operator import PREFIX

_MOVEMENTS = (
    *(f"{PREFIX}{name}" for name in ("transpose", "slice", "pad", "concat")),
    *("relax.reshape", "relax.permute_dims", "relax.dequantize", "relax.astype"),
)
# Names that Relax gives to what nobody named.
_UNNAMED = re.compile(r"[lg]v\d*")


class Renamed(Rewriter):
    """Gives variables other names, by those that they have."""

    def __init__(self, names: dict[str, str] | None = None) -> None:
        self._names = names or {}

    def emit(self, value: Any, name: str = "") -> Any:
        return super().emit(value, self._names.get(name, name))


class CallAfterNodes(Renamed):
    def run(self, module: Any) -> Any:
        known = lineage.read(module)
        if not known:
            return module
        bindings = [b for b in lineage.bindings_of(module["main"]) if _may_change(str(b.var.name), known)]
        # Who is called after a node: the first of several entries stands.
        first: dict[str, str] = {}
        for wanted in (
            [b for b in bindings if known[b.var.name].name == b.var.name],
            [b for b in bindings if not any(is_op(b.value, op) for op in _MOVEMENTS)],
            bindings,
        ):
            for binding in wanted:
                first.setdefault(known[binding.var.name].name, str(binding.var.name))
        self._names = {old: new for new, old in first.items()}
        for old, made in known.items():
            if old not in self._names and _UNNAMED.fullmatch(old):
                self._names[old] = f"{made.name}_part"
        return super().run(module)


def _may_change(name: str, known: lineage.Table) -> bool:
    """A variable without a name, or with the node's name and a number; others were named on purpose."""
    if name not in known:
        return False
    wanted = known[name].name
    return bool(_UNNAMED.fullmatch(name)) or name.rstrip("0123456789_") == wanted.rstrip("0123456789_")
