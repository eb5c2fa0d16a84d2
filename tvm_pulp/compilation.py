"""The pipeline: import, canonicalize, state, prepare, build, plan, emit, as an object whose stages can be looked at."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tvm_pulp.canonicalize.bounded_depth import bounded_depth
from tvm_pulp.canonicalize.integer_ends import integer_ends
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.canonicalize.state_caches import state_caches
from tvm_pulp.compile_options import ZOO, CompileOptions
from tvm_pulp.entry_point import ClusterEntryPoint, HostEntryPoint, Progress, entry_point, silent
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend import zoo
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.load import file_format, import_onnx_graph, import_program, load_model
from tvm_pulp.frontend.onnx_file import from_model, is_onnx
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.compile import language_model_files
from tvm_pulp.language_models.cpu_programs import CpuEntry, cpu_language_model_files, plan_cpu_language_model
from tvm_pulp.language_models.plan_entries import PlannedEntry, plan_language_model
from tvm_pulp.language_models.request import LanguageModelRequest, exported_request, zoo_request
from tvm_pulp.option import ModelKind
from tvm_pulp.planning.cpu import CpuPlan, LoweredCpuPlan
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.qnn.network import Network, State
from tvm_pulp.target import Target, resolve_target
from tvm_pulp.toolchain.project.project_files import project_files

# A path, `zoo:NAME`, an `onnx.ModelProto`, a framework's program (of `torch.export`, or of StableHLO), or a module of
# Relax (`Imported`).
Model = str | Path | Any

_FILES = {"onnx": ModelKind.ONNX_FILE, "tflite": ModelKind.TFLITE_FILE}


class Compilation:
    """A model on its way to the files of an archive; every stage is computed when it is looked at, once.

    compilation = Compilation("resnet.tflite", CompileOptions(target="c"))
    compilation.imported.module     # Relax, as the model file has it
    compilation.canonical           # Relax of the integer dialect
    compilation.network.layers      # layers over named tensors
    compilation.plan                # engines, tiles, buffers and their order
    compilation.files               # C, metadata and texts of the archive

    A language model has two entry points: look at its `entries`, `plans` and `files`.
    """

    def __init__(self, model: Model, options: CompileOptions | None = None, progress: Progress = silent) -> None:
        self.model, self.options, self.progress = model, options or CompileOptions(), progress
        # The SoC, engines and budgets that the options mean.
        self.target: Target = resolve_target(self.options)
        self._rewrites: tuple[Callable[[Any], Any], ...] = ()

    def varied(
        self,
        *,
        options: CompileOptions | None = None,
        imported: Imported | None = None,
        rewrite: Callable[[Any], Any] | None = None,
    ) -> "Compilation":
        """The same model with other options, imported in another way, or with its canonical module rewritten.

        Options that change how a model is imported need the `imported` that they lead to.
        """
        made = Compilation(self.model, options or self.options, self.progress)
        # Stages that are known are not computed again.
        vars(made).update(kind=self.kind, imported=imported or self.imported)
        if imported is None:
            vars(made).update(canonical=self.canonical if rewrite is None else rewrite(self.canonical))
            vars(made).update(_rewrites=(*self._rewrites, *([] if rewrite is None else [rewrite])))
        return made

    @cached_property
    def kind(self) -> ModelKind:
        """The kind of model; raises where an option has no effect on it."""
        model, options = self.model, self.options
        is_text = isinstance(model, str | Path)
        if isinstance(model, Imported):
            kind = ModelKind.MODULE
        elif is_onnx(model):
            kind = ModelKind.ONNX_MODEL if self._exported is None else ModelKind.EXPORTED_DECODER
        elif not is_text:
            kind = ModelKind.PROGRAM if self._exported is None else ModelKind.EXPORTED_DECODER
        elif str(model).startswith(ZOO):
            is_decoder = str(model).removeprefix(ZOO) in decoders.MODELS
            kind = ModelKind.ZOO_DECODER if is_decoder else ModelKind.ZOO_NETWORK
        elif self._exported is not None:
            kind = ModelKind.EXPORTED_DECODER
        else:
            kind = _FILES.get(file_format(Path(model), options.model_format), ModelKind.PROGRAM_FILE)
        options.check_model(kind, str(model) if is_text else "")
        return kind

    @cached_property
    def _exported(self) -> LanguageModelRequest | None:
        if isinstance(self.model, str | Path) and Path(self.model).suffix == ".pt2":
            # Reading it takes seconds: what no such file takes is said before.
            self.options.check_model(ModelKind.PROGRAM_FILE, str(self.model), ModelKind.EXPORTED_DECODER)
        return exported_request(self.model, self.options, self.options.module_name)

    @cached_property
    def language_model(self) -> LanguageModelRequest | None:
        """The language model that a name of the zoo or a file means; None for any other model."""
        if self.kind is ModelKind.EXPORTED_DECODER:
            return self._exported
        if self.kind is not ModelKind.ZOO_DECODER:
            return None
        return zoo_request(str(self.model).removeprefix(ZOO), self.options.capacity, self.options.module_name)

    @cached_property
    def imported(self) -> Imported:
        """The model as Relax, with the names of its file; with integer ends where they are wanted."""
        model, options = self.model, self.options
        stated = ImportOptions(
            options.model_format,
            {name: tuple(shape) for name, shape in options.input_shapes.items()},
            dict(options.input_types),
            options.sample_inputs,
            options.recurrent,
        )
        if isinstance(model, Imported):
            imported = model
        elif self.kind is ModelKind.PROGRAM:
            imported = import_program(model, stated)
        elif self.kind is ModelKind.ONNX_MODEL:
            imported = import_onnx_graph(from_model(model), stated)
        elif self.kind is ModelKind.ZOO_NETWORK:
            imported = import_onnx_graph(from_model(zoo.build(str(model).removeprefix(ZOO))), stated)
        else:
            imported = load_model(Path(model), stated)
        return imported if options.io is None else integer_ends(imported, options.io)

    @cached_property
    def canonical(self) -> Any:
        """The module in the integer dialect, as every frontend's becomes."""
        imported = self.imported
        self.progress("canonicalizing")
        with bounded_depth():
            return canonicalize(imported)

    @cached_property
    def stateful(self) -> tuple[Any, tuple[State, ...]]:
        """The canonical module with caches as state, where that is wanted, and the caches."""
        if not self.options.state:
            if self.options.state_memory is not None:
                raise UserError("--state-memory has no effect on a network without state: drop it, or add --state")
            return self.canonical, ()
        with bounded_depth():
            module, states = state_caches(self.canonical)
        refuse_if(
            not states,
            "--state: no cache is recognised, an input joined with new rows along its positions that goes out and "
            "into attention: drop it",
        )
        return module, states

    @cached_property
    def entry(self) -> HostEntryPoint | ClusterEntryPoint:
        """The only entry point of a network, with the stages that its SoC has.

        Attention of which L1 does not hold a head is planned as scores, softmax and values.
        """
        made = self._entry_of(*self.stateful)
        if self.options.state or not isinstance(made, ClusterEntryPoint) or made.attention_fits:
            return made
        self.progress("canonicalizing with attention in parts")
        with bounded_depth():
            module = canonicalize(self.imported, whole_attention=False)
        for rewrite in self._rewrites:
            module = rewrite(module)
        return self._entry_of(module, ())

    def _entry_of(self, module: Any, states: tuple[State, ...]) -> HostEntryPoint | ClusterEntryPoint:
        return entry_point(self.target, self.options.module_name, self.imported, module, states, self.progress)

    @property
    def network(self) -> Network:
        """Layers over named tensors."""
        return self.entry.network

    @property
    def lowered(self) -> LoweredPlan | LoweredCpuPlan:
        """The plan and the program that it became, after every pass."""
        return self.entry.lowered

    @property
    def plan(self) -> Plan | CpuPlan:
        """The deployment plan: engines or forms, tiles or strips, buffers and their order."""
        return self.lowered.plan

    @cached_property
    def entries(self) -> Mapping[str, PlannedEntry | CpuEntry]:
        """Entry points of a language model by name, each with its own stages; any other network has none."""
        if self.language_model is None:
            return {}
        made = plan_language_model if self.target.soc.simulated else plan_cpu_language_model
        with bounded_depth():
            return made(self.language_model, self.target, self.progress)

    @cached_property
    def plans(self) -> Mapping[str, LoweredPlan | LoweredCpuPlan]:
        """Plans of every entry point by name; an ordinary network has one without a name."""
        return {name: entry.lowered for name, entry in self.entries.items()} or {"": self.lowered}

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Everything in the archive."""
        if self.language_model is None:
            files = self.entry.files
        elif self.target.soc.simulated:
            planned = {name: entry for name, entry in self.entries.items() if isinstance(entry, PlannedEntry)}
            files = language_model_files(self.language_model, self.target, planned, self.progress)
        else:
            by_itself = {name: entry for name, entry in self.entries.items() if isinstance(entry, CpuEntry)}
            files = cpu_language_model_files(self.language_model, self.target, by_itself)
        return files | project_files(files)
