"""StableHLO, which JAX, TensorFlow and Keras write, as ONNX graphs in memory: from there they go the way of ONNX files.

A module of it becomes nodes (`module_reader`); groups of nodes become the layers that they are (`rewrites`,
`identify`); one file per family of operators writes ONNX. JAX' library reads StableHLO; it is imported when a model
asks for it.
"""

from tvm_pulp.frontend.stablehlo_program.program import StablehloProgram

__all__ = ["StablehloProgram"]
