"""Small networks of the integer dialect, compiled for ITA and compared with numpy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn, soc
from tvm_pulp.entry_point import plan_for, prepare_module
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.conformance.layer_network import Simulated, pinned, simulate, target_for
from uma_backends.ita import ItaBackend

Emit = Callable[..., Any]


def module_of(inputs: dict[str, np.ndarray], define: Callable[[Emit, list[Any]], Any]) -> Any:
    """A module whose inputs have the types of the given arrays; `define` emits operators and returns the result."""
    builder = relax.BlockBuilder()
    parameters = [relax.Var(n, relax.TensorType(x.shape, str(x.dtype))) for n, x in inputs.items()]

    def emit(operator: str, operands: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
        if operator == "reshape":
            return builder.emit(relax.op.reshape(operands[0], operands[1]))
        made = [relax.const(o) if isinstance(o, np.ndarray) else o for o in operands]
        return builder.emit(qnn.emit(operator, made, attributes or {}))

    with builder.function("main", parameters):
        with builder.dataflow():
            result = builder.emit_output(relax.Tuple([define(emit, parameters)]))
        builder.emit_func_output(result)
    return builder.get()


# A SoC with twice the L1 of the engine's own one.
ROOMY = str(Path(__file__).with_name("siracusa-ita.yaml"))


def run_on_ita(
    inputs: dict[str, np.ndarray], define: Callable[[Emit, list[Any]], Any], machine: str | None = None
) -> Simulated:
    """Compile for the engine's own SoC, or another one, everything it can run pinned to it, and simulate twice."""
    chip = soc.load(machine or ItaBackend().default_soc)
    target = target_for(chip, ItaBackend().variant(chip.engines["ita"]))
    module = prepare_module(module_of(inputs, define), target)
    imported = Imported(module, tuple(inputs), ("y",), "pulp")
    network = build_network(module, imported, "network")
    target = pinned(target, network)
    run = simulate(target, plan_for(target, network), list(inputs.values()))
    assert run.jobs.get("ita"), "no job reached the model"
    return run


def engines(run: Simulated) -> dict[str, str]:
    """Engine by operator of the layers that ran."""
    return {layer["op"]: layer["engine"] for layer in run.report["layers"]}


def rule(
    mul: int, shift: int, add: int = 0, low: int = -128, high: int = 127
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """A requantization that rounds halves up, as attributes and operands."""
    summand = ((1 << shift) >> 1) + (add << shift)
    requant = Requant("pulp", shift, 0, low, high, True)
    return requant.attributes(), [np.array([mul], np.int32), np.array([summand], np.int32)]
