"""Backends tvmpulp_<engine>: the BUILD stage, in which a model becomes an archive of C; their framework."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mlonmcu.artifact import Artifact, ArtifactFormat
from mlonmcu.config import remove_config_prefix
from mlonmcu.flow.backend import Backend
from mlonmcu.flow.framework import Framework
from mlonmcu.models.model import ModelFormats
from mlonmcu.target.metrics import Metrics

from tvm_pulp.errors import UserError
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.tvmc.mlonmcu import names, options
from tvm_pulp.tvmc.mlonmcu.features import supported
from tvm_pulp.tvmc.mlonmcu.tool import run_tool


class TvmPulpFramework(Framework):
    """The compiler. `tvmpulp.<key>` sets a key of all its backends, unless one states it itself."""

    name = names.FRAMEWORK
    DEFAULTS: ClassVar[dict[str, Any]] = options.common_defaults()
    # The base class asks for TensorFlow's sources.
    REQUIRED: ClassVar[set[str]] = set()


# Files of a run's folder: the program's archive, the inputs it runs with, its outputs and what they should be.
ARCHIVE = "default.tar"
INPUTS = "inputs.npz"
OUTPUTS = "outputs.npz"
GOLDEN = "outputs_ref.npz"
REFERENCE = "outputs_numpy.npz"
# The target puts its SoC here; it is not for users, whose choice of a SoC is a target.
SOC = "soc"


class TvmPulpBackend(Backend):
    """The part that all backends share; `made_for` derives one per engine."""

    name = names.FRAMEWORK
    # None: no engine.
    engine: ClassVar[str | None] = None
    DEFAULTS: ClassVar[dict[str, Any]] = {}
    # Keys of every component of ours, by its name.
    known_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        given = dict(config or {})
        options.check_keys(given, self.known_keys)
        # Where neither the user nor a feature states a key of the backend, that of the framework holds.
        shared = remove_config_prefix(given, names.FRAMEWORK)
        super().__init__(framework=names.FRAMEWORK, features=features, config=given)
        for key, value in shared.items():
            if key in self.DEFAULTS and self.config.get(key) is None:
                self.config[key] = value
        self.config.setdefault(SOC, None)
        self.supported_formats = [ModelFormats.ONNX, ModelFormats.TFLITE]
        self._model: Path | None = None
        self._input_arguments: list[str] = []

    def load_model(
        self,
        model: Path,
        input_shapes: Mapping[str, Any] | None = None,
        output_shapes: Mapping[str, Any] | None = None,
        input_types: Mapping[str, str] | None = None,
        output_types: Mapping[str, str] | None = None,
        params_path: Path | None = None,
    ) -> None:
        """Take the model's file; what is said about its inputs matters to formats that do not say it themselves."""
        self._model = Path(model)
        self._input_arguments = []
        if self._model.suffix == ".tflite":
            return
        if input_shapes:
            self._input_arguments += ["--input-shapes", ",".join(f"{n}:{list(s)}" for n, s in input_shapes.items())]
        if input_types:
            self._input_arguments += ["--input-types", ",".join(f"{n}:{t}" for n, t in input_types.items())]
        elif (sample := self._model.parent / INPUTS).is_file():
            self._input_arguments += ["--sample-inputs", str(sample)]

    def generate(self) -> tuple[dict[str, list[Artifact]], dict[str, Metrics]]:
        """The archive, and what numpy makes of the inputs."""
        if self._model is None:
            raise UserError(f"backend {self.name}: load a model before it is built")
        inputs = self._model.parent / INPUTS
        wants_reference = self.config.get(options.REFERENCE)
        with TemporaryFolder() as folder:
            archive, reference = folder / ARCHIVE, folder / REFERENCE
            own = ["--inputs", str(inputs)] if inputs.is_file() else []
            if wants_reference is None or options.switch(options.REFERENCE, wants_reference):
                own += ["--reference", str(reference)]
            said = run_tool(
                "tvm_pulp.tvmc.mlonmcu.compile_model",
                [*own, "--", str(self._model), *self._arguments(inputs), *self._input_arguments, "-o", str(archive)],
            )
            artifacts = [
                file_artifact(archive, "archive"),
                Artifact(f"{self.name}_out.log", content=said, fmt=ArtifactFormat.TEXT),
            ]
            if reference.is_file():
                artifacts.append(file_artifact(reference))
            return {"default": artifacts}, {"default": archive_metrics(archive)}

    def _arguments(self, inputs: Path) -> list[str]:
        soc = self.config.get(SOC)
        engines = self._engines(soc)
        arguments = ["--target", ",".join([*(f"uma-{engine}" for engine in engines), "c"])]
        if soc is not None:
            arguments += ["--soc", str(soc)]
        arguments += options.compile_arguments(self.config, self.engine)
        if "--debug" in arguments and inputs.is_file():
            arguments += ["--debug-inputs", str(inputs)]
        return arguments

    def _engines(self, soc: str | None) -> list[str]:
        return [self.engine] if self.engine is not None else []


class EveryEngineBackend(TvmPulpBackend):
    """All engines of the target's SoC, or those that `accelerators` names; each layer goes where it is cheapest."""

    name = names.EVERY_ENGINE

    def _engines(self, soc: str | None) -> list[str]:
        from tvm_pulp import soc as socs
        from tvm_pulp.uma import registry

        stated = self.config.get(options.ACCELERATORS)
        if stated is not None:
            return [name.strip() for name in str(stated).split(",") if name.strip()]
        if soc is None:
            raise UserError(f"backend {self.name} takes the engines of a SoC: name a target with -t, or `accelerators`")
        return [name for name in registry.names() if name in socs.load(soc).engines]


def file_artifact(path: Path, *flags: str) -> Artifact:
    """A file as MLonMCU keeps it: JSON as text, all else as bytes."""
    if path.suffix == ".json":
        return Artifact(path.name, content=path.read_text(encoding="utf-8"), fmt=ArtifactFormat.TEXT)
    return Artifact(path.name, raw=path.read_bytes(), fmt=ArtifactFormat.RAW, flags=list(flags))


def metrics_of(figures: Mapping[str, Any]) -> Metrics:
    """MLonMCU's record of figures by name."""
    metrics = Metrics()
    for name, value in figures.items():
        metrics.add(name, value)
    return metrics


def archive_metrics(path: Path) -> Metrics:
    """How much of the network runs on accelerators."""
    from tvm_pulp.codegen import mlf

    metadata = mlf.metadata(mlf.read(path))
    facts, memory = metadata["tvm_pulp"], metadata["memory"]
    cores = {None, "cluster", "host"}
    offloaded = [layer for layer in facts["layers"] if layer.get("engine") not in cores]
    metrics = metrics_of(
        {
            "Total MACs": facts["macs"],
            "Total Layers": len(facts["layers"]),
            "Offloaded Layers": len(offloaded),
            "Offloaded MACs": sum(layer["macs"] for layer in offloaded),
        }
    )
    metrics.add("Workspace Size [B]", memory.get("levels", {}).get("l1", memory["arena_bytes"]), optional=True)
    return metrics


def made_for(name: str, engine: str | None) -> type[TvmPulpBackend]:
    """The backend of that name."""
    base = EveryEngineBackend if name == names.EVERY_ENGINE else TvmPulpBackend
    own = {options.ACCELERATORS: None} if base is EveryEngineBackend else options.engine_defaults(engine)
    keys = {**options.common_defaults(), **own}
    facts = {"name": name, "engine": engine, "DEFAULTS": keys, "FEATURES": supported(keys)}
    return type(f"Backend_{name}", (base,), {**facts, "__module__": __name__, "__doc__": base.__doc__})
