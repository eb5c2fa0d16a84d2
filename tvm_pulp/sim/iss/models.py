"""Find the simulation model of an accelerator: a shared object behind tvm_pulp/peripheral.h."""

from collections.abc import Mapping
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.input_file import is_input_file
from tvm_pulp.sim.iss.library import build_shared_object, installed_extension, package_folder


def find_model(engine: str, models: Mapping[str, str | Path] | None = None) -> Path | None:
    """Path of the engine's model, or None when there is none.

    Looks at the explicit mapping, then for an installed `tvm_pulp._model_<engine>`, then compiles the sources: those in
    `uma_backends/<engine>/model`, else those that the engine's installed backend registers.
    """
    if models and engine in models:
        path = Path(models[engine])
        refuse_if(not is_input_file(path), f"model of engine '{engine}': there is no file {path}")
        return path
    sources, runtime = model_sources(engine), package_folder("c_runtime")
    built = installed_extension(f"tvm_pulp._model_{engine}", sources)
    if built is not None or not sources or runtime is None:
        return built
    folders = list(dict.fromkeys(path.parent for path in sources))
    return build_shared_object(f"the model of {engine}", sources, [*folders, runtime / "include"])


def model_sources(engine: str) -> list[Path]:
    """C files of the model. The folder is looked at first: it needs no import of the backend."""
    backends = package_folder("uma_backends")
    folder = backends / engine / "model" if backends else None
    if folder is not None and folder.is_dir():
        return sorted(folder.glob("*.c"))
    from tvm_pulp.uma import registry

    return list(registry.backend(engine).model_sources) if engine in registry.names() else []
