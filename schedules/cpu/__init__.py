"""How a CPU by itself runs each operator with the kernels of c_runtime/cpu: one file per operator."""

from importlib import import_module
from pkgutil import iter_modules

from schedules.cpu.base import forms

# Importing the file of a form registers it.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["forms"]
