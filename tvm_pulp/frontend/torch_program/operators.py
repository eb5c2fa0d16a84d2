"""All ATen operators with a translation: PyTorch's name, without `.default`, to the function that writes it."""

from collections.abc import Callable
from typing import Any

from tvm_pulp.frontend.torch_program import (
    activations,
    comparisons,
    elementwise,
    movement,
    normalizations,
    products,
    quantization,
    recurrent,
    reductions,
    resizing,
    shapes,
    windows,
)

OPERATORS: dict[str, Callable[..., Any]] = {
    **activations.OPERATORS,
    **comparisons.OPERATORS,
    **elementwise.OPERATORS,
    **movement.OPERATORS,
    **normalizations.OPERATORS,
    **products.OPERATORS,
    **quantization.OPERATORS,
    **recurrent.OPERATORS,
    **reductions.OPERATORS,
    **resizing.OPERATORS,
    **shapes.OPERATORS,
    **windows.OPERATORS,
}
