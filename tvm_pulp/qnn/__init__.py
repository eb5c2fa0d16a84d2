"""The integer dialect: one file per operator or family of them.

Every operator states its type rule, a numpy reference, its loops in TIR, how it is cut, its work (MACs), the names of
its operands and the record of its attributes. Frontends and canonicalization produce operators, engines and code
generation consume them.
"""

from importlib import import_module
from pkgutil import iter_modules

from tvm_pulp.qnn.operator import OPERATORS, PREFIX, Operator, Requant, attributes, emit, is_qnn, name_of
from tvm_pulp.qnn.tensor_spec import BYTES, RANGES, TensorSpec, every_value, looked_up

# Importing an operator's file registers it.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "BYTES",
    "OPERATORS",
    "PREFIX",
    "RANGES",
    "Operator",
    "Requant",
    "TensorSpec",
    "attributes",
    "emit",
    "every_value",
    "is_qnn",
    "looked_up",
    "name_of",
]
