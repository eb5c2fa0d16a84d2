"""All values of a program's main function, as XLA computes them: the framework's own word on each layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.library_errors import first_line, refuse_library_errors


def recorded_values(
    module: Any, places: Sequence[int], arguments: Sequence[np.ndarray]
) -> tuple[dict[int, np.ndarray], list[np.ndarray]]:
    """Values by position among those of the main function, and what it returns."""
    import jax
    from jaxlib.mlir import ir

    with module.context, ir.Location.unknown():
        copied = ir.Module.parse(str(module))
        main = next(f for f in copied.body.operations if str(f.attributes["sym_name"]).strip('"') == "main")
        block = main.regions[0].blocks[0]
        made = [value for operation in block.operations for value in operation.operation.results]
        shown = [made[place] for place in places]
        last = list(block.operations)[-1]
        shown += list(last.operation.operands)
        from jaxlib.mlir.dialects import func

        with ir.InsertionPoint(last):
            func.ReturnOp(shown)
        last.operation.erase()
        types = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in shown])
        main.attributes["function_type"] = ir.TypeAttr.get(types)
        if "res_attrs" in main.attributes:
            del main.attributes["res_attrs"]
        text = str(copied)
    refused = "XLA does not run the program, so there is nothing to compare with"
    with refuse_library_errors(refused, reason=first_line):
        results = _run(jax, text, arguments)
    return dict(zip(places, results[: len(places)], strict=True)), results[len(places) :]


def _run(jax: Any, text: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A module of StableHLO on this machine."""
    from jax._src import xla_bridge
    from jaxlib import _jax

    client = xla_bridge.get_backend("cpu")
    device = client.local_devices()[0]
    program = client.compile_and_load(text, _jax.DeviceList((device,)), _jax.CompileOptions())
    return [np.asarray(a) for a in program.execute([jax.device_put(np.asarray(a), device) for a in arguments])]
