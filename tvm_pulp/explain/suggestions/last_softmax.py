"""Change: a classifier without its last softmax, whose largest value is where that of its operand is."""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, most_saved, plan_of, without
from tvm_pulp.qnn.network import Tensor

_SOFTMAX = ("softmax", "float_softmax")
_BEHIND = ("dequantize", "requantize", "transpose", "slice")


def last_softmax(base: Compilation) -> Change:
    makers = {layer.layer.outputs[0].storage: layer for layer in plan_of(base).layers}
    cycles = 0
    for output in plan_of(base).network.outputs:
        tensor: Tensor | None = output.storage
        while tensor is not None and tensor in makers and makers[tensor].layer.operator in _BEHIND:
            tensor = makers[tensor].layer.inputs[0].storage
        if tensor in makers and makers[tensor].layer.operator in _SOFTMAX:
            cycles += most_saved(makers[tensor])
    return Change(
        "last-softmax",
        "the model without its last softmax: the largest value is at the same place",
        cycles,
        lambda found: found.varied(rewrite=_Dropped().run),
    )


class _Dropped(Rewriter):
    def start(self, function: Any) -> None:
        """Find the softmax that nothing but copies stand behind."""
        defined = {b.var: b.value for block in function.body.blocks for b in block.bindings}
        self._last: set[Any] = set()
        waiting = [function.body.body]
        while waiting:
            value = waiting.pop()
            if isinstance(value, relax.Tuple):
                waiting += value.fields
            made = defined.get(value) if isinstance(value, relax.Var) else None
            if isinstance(made, relax.Var | relax.Tuple):
                waiting.append(made)
            elif isinstance(made, relax.Call):
                if any(qnn.is_qnn(made, name) for name in _SOFTMAX):
                    self._last.add(value)
                elif made.op.name.rpartition(".")[2] in (*_BEHIND, "reshape"):
                    waiting.append(made.args[0])

    def visit(self, variable: Any, value: Any) -> Any:
        return without(variable, value) if variable in self._last else value
