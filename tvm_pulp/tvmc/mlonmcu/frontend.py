"""Frontend `tvmpulp_frontend`: the LOAD stage. Models are files, folders of a file, or names of the zoo."""

import io
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from mlonmcu.artifact import Artifact, ArtifactFormat
from mlonmcu.models.frontend import Frontend
from mlonmcu.models.lookup import find_metadata, get_model_directories
from mlonmcu.models.model import Model, ModelFormats

from tvm_pulp.compile_options import ZOO
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.tvmc.mlonmcu import names
from tvm_pulp.tvmc.mlonmcu.backend import GOLDEN, INPUTS
from tvm_pulp.tvmc.mlonmcu.golden import Golden, find_golden, is_zoo_model, zoo_file, zoo_inputs

_SUFFIXES = {".onnx": ModelFormats.ONNX, ".tflite": ModelFormats.TFLITE}
# File names that do not tell one model from another: the folder does.
_NAMELESS = ("model", "network")
CASE = "case"


class TvmPulpFrontend(Frontend):
    """ONNX and TFLite files, with the inputs and outputs that lie beside them; needs no TensorFlow."""

    FEATURES: ClassVar[set[str]] = set()
    DEFAULTS: ClassVar[dict[str, Any]] = {CASE: 0}
    config: dict[str, Any]

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        formats = list(_SUFFIXES.values())
        super().__init__(
            names.FRONTEND, input_formats=formats, output_formats=formats, features=features, config=config
        )
        # What the base class reads and nobody can set here.
        self.config = {**Frontend.DEFAULTS, **self.config}

    def lookup_models(self, names: list[str], config: dict[str, Any] | None = None, context: Any = None) -> list[Model]:
        """A file, a folder or file of that name in the environment's folders of models, or a network of the zoo."""
        directories = [Path(d) for d in get_model_directories(context)] if context is not None else []
        return [self._find(name, {} if config is None else config, directories) for name in names]

    def _find(self, name: str, config: dict[str, Any], directories: list[Path]) -> Model:
        path = Path(name)
        if path.is_file():
            refuse_if(
                path.suffix not in _SUFFIXES,
                f"model '{name}' is neither ONNX nor TFLite: its name ends in {' or '.join(_SUFFIXES)}",
            )
            return _model(path.absolute(), config)
        for directory in directories:
            files = [file for suffix in _SUFFIXES for file in sorted((directory / name).glob(f"*{suffix}"))]
            named = [file for file in files if file.stem == name] or files
            refuse_if(len(named) > 1, f"model '{name}': {directory / name} holds several files, give the path of one")
            if named:
                return _model(named[0], config, name)
        if is_zoo_model(name):
            network = name.removeprefix(ZOO)
            model = _model(zoo_file(network), config, network)
            model.zoo = network
            return model
        raise UserError(f"model '{name}' is neither a file, nor in the environment's folders, nor in the zoo")

    def produce_artifacts(self, model: Model) -> list[Artifact]:
        """The file as it is."""
        path = Path(model.paths[0])
        raw = path.read_bytes()
        return [Artifact(f"{model.name}{path.suffix}", raw=raw, fmt=ArtifactFormat.RAW, flags=["model"])]

    def process_metadata(self, model: Model, cfg: dict[str, Any] | None = None) -> list[Artifact]:
        """Read the definition file, if there is one, and find inputs and golden outputs."""
        artifacts = list(super().process_metadata(model, cfg=cfg) or []) if model.metadata is not None else []
        golden = self._golden(model)
        for name, arrays in ((INPUTS, golden.inputs), (GOLDEN, golden.outputs)):
            if arrays is not None:
                buffer = io.BytesIO()
                np.savez(buffer, **arrays)  # type: ignore[arg-type]
                artifacts.append(Artifact(name, raw=buffer.getvalue(), fmt=ArtifactFormat.RAW))
        return artifacts

    def _golden(self, model: Model) -> Golden:
        given = (model.inputs_path, model.outputs_path)
        network = getattr(model, "zoo", None)
        if network is not None and given == (None, None):
            return Golden(zoo_inputs(network), None)
        return find_golden(Path(model.paths[0]).parent, int(self.config[CASE]), *given)


def _model(path: Path, config: dict[str, Any], name: str | None = None) -> Model:
    """MLonMCU's record of a file. Its names must not hold dots, which would end them at the first."""
    chosen = name or (path.parent.name if path.stem in _NAMELESS else path.stem)
    chosen = chosen.replace(".", "_").replace("/", "_")
    definition = find_metadata(path.parent, model_name=path.stem)
    if definition is not None:
        config[f"{chosen}.metadata_path"] = definition
    return Model(chosen, [path], config=config, formats=[_SUFFIXES[path.suffix]])
