"""Import paths that programs outside this tree use, and the places where their modules live."""

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from types import ModuleType

# A package that is written by users or stands in the documentation keeps its path wherever the tree puts it.
PUBLIC_PATHS = {
    "tvm_pulp.conformance": "tvm_pulp.uma.conformance",
    "tvm_pulp.formats": "tvm_pulp.codegen.formats",
    "tvm_pulp.mlonmcu": "tvm_pulp.tvmc.mlonmcu",
    "tvm_pulp.tiling": "tvm_pulp.planning.tiling",
    "tvm_pulp.zoo": "tvm_pulp.frontend.zoo",
}


class PublicPaths:
    """A finder that gives a module under its public path as well: the same object, loaded once."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of a public path; None for any other name."""
        package = next((p for p in PUBLIC_PATHS if name == p or name.startswith(p + ".")), None)
        if package is None:
            return None
        found = importlib.util.find_spec(PUBLIC_PATHS[package] + name.removeprefix(package))
        if found is None:
            return None
        spec = importlib.machinery.ModuleSpec(
            name, _Alias(found.name), is_package=found.submodule_search_locations is not None
        )
        spec.submodule_search_locations = found.submodule_search_locations
        return spec


class _Alias(Loader):
    """A loader that hands on a module which has another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The machinery makes an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the tree where the public path is looked up."""
        sys.modules[module.__name__] = importlib.import_module(self._name)

    def get_code(self, name: str) -> object:
        """The code behind the path, for `python -m`."""
        found = importlib.util.find_spec(self._name)
        assert found is not None and isinstance(found.loader, importlib.machinery.SourceFileLoader)
        return found.loader.get_code(self._name)


def install() -> None:
    """Let public paths be imported."""
    if not any(isinstance(finder, PublicPaths) for finder in sys.meta_path):
        sys.meta_path.insert(0, PublicPaths())
