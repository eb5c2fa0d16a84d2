"""How the cluster cores run each operator with the hand-written kernels: one file per operator or family of them."""

from importlib import import_module
from pkgutil import iter_modules

from schedules.cluster.base import Arguments, Fields, KernelForm, Schedule, register
from schedules.cluster.catalog import described, forms
from schedules.cluster.steps import step_call

# Importing the file of a schedule registers it.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Arguments", "Fields", "KernelForm", "Schedule", "described", "forms", "register", "step_call"]
