"""PyTorch programs (`torch.export`) as ONNX graphs in memory, from where they take the same way as ONNX files.

One file per family of ATen operators, each with a table from ATen's name to a function that writes ONNX nodes. An
operator that no table knows is replaced by what PyTorch itself defines it to be. Nothing here is imported, and PyTorch
with it, before a model asks for it.
"""

from tvm_pulp.frontend.torch_program.open_lengths import open_program
from tvm_pulp.frontend.torch_program.program import as_program, load_program
from tvm_pulp.frontend.torch_program.translate import onnx_model

__all__ = ["as_program", "load_program", "onnx_model", "open_program"]
