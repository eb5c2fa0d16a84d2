"""Quantized networks to bare-metal C for heterogeneous RISC-V chips.

import tvm_pulp
app = tvm_pulp.compile("resnet.tflite")
result = app.run({"input": x})
"""

from typing import TYPE_CHECKING, Any

from tvm_pulp import public_paths

__version__ = "0.2.0"
__all__ = ["App", "Compilation", "CompileOptions", "Result", "compile", "quantize"]

if TYPE_CHECKING:
    from tvm_pulp.api import App, Compilation, CompileOptions, compile
    from tvm_pulp.frontend.quantize.quantize_model import quantize
    from tvm_pulp.result import Result

public_paths.install()


def __getattr__(name: str) -> Any:
    """The compiler loads on first use: `import tvm_pulp` and `tvmc --help` stay instant."""
    if name == "quantize":
        from tvm_pulp.frontend.quantize import quantize

        return quantize
    if name in __all__:
        from tvm_pulp.garbage_collection import rare_garbage_collection

        with rare_garbage_collection():
            from tvm_pulp import api

        return getattr(api, name)
    raise AttributeError(f"module 'tvm_pulp' has no attribute '{name}'")
