"""Every tensor of a TFLite model, as the reference kernels of LiteRT compute it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tvm_pulp.errors import UserError


def litert_values(path: Path, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Tensors by name, those of the file's constants included; a name that comes twice has a number behind it."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        raise UserError("comparing with LiteRT needs it: pip install ai-edge-litert") from None
    resolver = OpResolverType.BUILTIN_REF
    machine = Interpreter(
        str(path), experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True, num_threads=1
    )
    machine.allocate_tensors()
    for detail, array in zip(machine.get_input_details(), inputs, strict=True):
        machine.set_tensor(detail["index"], array.astype(detail["dtype"]).reshape(detail["shape"]))
    machine.invoke()
    found: dict[str, np.ndarray] = {}
    for detail in machine.get_tensor_details():
        try:
            value = np.array(machine.get_tensor(detail["index"]))
        except ValueError:  # it has no data: an operand that is left out
            continue
        if value.dtype.kind in "biuf":
            name = detail["name"]
            found[name if name not in found else f"{name}:{detail['index']}"] = value
    return found
