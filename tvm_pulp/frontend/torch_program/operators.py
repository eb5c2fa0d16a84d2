"""All ATen operators with a translation: PyTorch's name, without `.default`, to the function that writes it."""

from collections.abc import Callable
from typing import Any

from tvm_pulp.frontend.torch_program import (
    activations,
    elementwise,
    movement,
    normalizations,
    products,
    quantization,
    recurrent,
    reductions,
    shapes,
    windows,
)

_FAMILIES: Any = (
    *(activations, elementwise, movement, normalizations, products),
    *(quantization, recurrent, reductions, shapes, windows),
)
OPERATORS: dict[str, Callable[..., Any]] = {name: f for family in _FAMILIES for name, f in family.OPERATORS.items()}
