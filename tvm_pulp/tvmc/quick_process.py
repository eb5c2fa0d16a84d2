"""A process of `tvmc` that starts and ends without work for nobody: half of the time that importing TVM takes.

TVM loads what it knows of CUDA, Metal and others, and looks up types of its library of extras before it has loaded
that library: the error of the look-up, which nobody sees, reads all debug symbols of the process. It asks for the names
of all its functions in fifty modules, and imports PyTorch where that is installed, which only models of PyTorch need.
At the end, and as soon as collections are frequent again, Python looks through a million objects for cycles although
the memory is given back as a whole.
"""

import atexit
import ctypes
import gc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from tvm_pulp.garbage_collection import OBJECTS

# Device backends of TVM: who wants them sets this to 1.
_BACKENDS = "TVM_DEVICE_BACKEND_AUTOLOAD"
# In the order in which they need each other, each as TVM would load it.
_LIBRARIES = {"libtvm_runtime.so": ctypes.RTLD_GLOBAL, "libtvm_runtime_extra.so": ctypes.RTLD_LOCAL}


def quick_process() -> None:
    """Prepare this process, which runs one verb and ends."""
    gc.set_threshold(max(OBJECTS, gc.get_threshold()[0]), *gc.get_threshold()[1:])
    atexit.register(gc.freeze)
    if "tvm" not in sys.modules and os.environ.setdefault(_BACKENDS, "0") == "0":
        sys.meta_path.insert(0, _BeforeTvm())


class _BeforeTvm:
    """Is told when TVM is imported, wherever that is; most wrong uses are said before."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "tvm":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(_quick_import, spec, spec.loader.exec_module)  # type: ignore[method-assign]
        return spec


def _quick_import(spec: ModuleSpec, load: Callable[[ModuleType], None], module: ModuleType) -> None:
    """Load TVM's module, its libraries first."""
    with _without("torch"):
        registry = importlib.import_module("tvm_ffi.registry")
        for folder in spec.submodule_search_locations or ():
            for library, mode in _LIBRARIES.items():
                if (path := Path(folder) / "lib" / library).exists():
                    ctypes.CDLL(str(path), mode)
        with _names_once(registry):
            load(module)


@contextmanager
def _without(package: str) -> Iterator[None]:
    """Inside, a package that was not imported before cannot be: to TVM, it is not installed."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


@contextmanager
def _names_once(registry: Any) -> Iterator[None]:
    """Inside, the names of TVM's functions are read again only when there are more of them."""
    read, names = registry.list_global_func_names, list[str]()

    def list_global_func_names() -> list[str]:
        if registry.get_global_func("ffi.FunctionListGlobalNamesFunctor")()(-1) != len(names):
            names[:] = read()
        return names

    registry.list_global_func_names = list_global_func_names
    try:
        yield
    finally:
        registry.list_global_func_names = read
