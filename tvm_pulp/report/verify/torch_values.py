"""Every value of a PyTorch program, as PyTorch computes it node by node."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program import load_program


def torch_values(model: Any, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Values by the names of the program's nodes. `model` is a file or an exported program."""
    program = load_program(Path(model)) if isinstance(model, str | Path) else model
    import torch

    found: dict[str, np.ndarray] = {}

    class Recorder(torch.fx.Interpreter):
        def run_node(self, node: Any) -> Any:
            value = super().run_node(node)
            if isinstance(value, torch.Tensor):
                array = value.detach().cpu()
                if array.dtype is not torch.bfloat16:
                    found[node.name] = array.numpy()
            return value

    with torch.no_grad():
        Recorder(program.module()).run(*(torch.from_numpy(np.array(array)) for array in inputs))
    return {name: value for name, value in found.items() if value.dtype.kind in "biuf"}
