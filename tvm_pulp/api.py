"""`tvm_pulp.compile` and `.run`: the two lines most users need."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvm_pulp.canonicalize.bounded_depth import bounded_depth
from tvm_pulp.errors import UserError
from tvm_pulp.result import Compiled, Result

if TYPE_CHECKING:
    from tvm_pulp.language_models.generation.compile_decoder import DecoderRequest
    from tvm_pulp.language_models.generation.compile_exported import ExportedRequest
    from tvm_pulp.language_models.generation.session import Generator, Sampling
    from tvm_pulp.language_models.generation.tokenizer import Tokenizer
    from tvm_pulp.planning.tir import LoweredPlan
    from tvm_pulp.qnn.network import State
    from tvm_pulp.report.rich_display import ShownPlan
    from tvm_pulp.sim.instruments import Instruments
    from tvm_pulp.sim.runner import Runner
    from tvm_pulp.soc import Soc

Progress = Callable[[str], None]


def _silent(_message: str) -> None:
    """No progress shown."""


@dataclass(frozen=True)
class CompileOptions:
    """What can be said about a compilation; the command line's options, one for one."""

    target: str = "c"
    # The name of a preset, the path of a description, or a description.
    soc: str | Path | Soc | None = None
    module_name: str = "default"
    model_format: str | None = None
    input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    input_types: Mapping[str, str] = field(default_factory=dict)
    sample_inputs: Sequence[tuple[str, np.ndarray]] = ()
    # Options of engines: {"ENGINE": {"OPTION": "VALUE"}}.
    engine_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Bytes, or a text such as "64k".
    l1: int | str | None = None
    l2: int | str | None = None
    double_buffer: bool = True
    # "solver", or the baseline "greedy"; None is the solver.
    planner: str | None = None
    # An archive or a plan.json, whose decisions are taken instead of planning.
    plan: str | Path | None = None
    cores: int | None = None
    # Caches that go in and come out are state.
    state: bool = False
    # Level of memory of caches: l1, l2 or l3; None: what the planner finds best.
    state_memory: str | None = None
    # Tokens that the cache of a language model holds.
    capacity: int | None = None
    # The tokenizer of a language model in a file, in the format of the `tokenizers` library.
    tokenizer: str | Path | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    # "int8" or "uint8": take and return the integers that float inputs and outputs are quantized to.
    io: str | None = None
    # Checks at run time: the first wrong layer is named. They expect these inputs, by default those of `App.run()`.
    debug: bool = False
    debug_inputs: Sequence[tuple[str, np.ndarray]] = ()
    # The program shows what every layer made: `App.run(layers=True)`, `Result.compare`. Cycles of it say nothing.
    keep_layers: bool = False


class App:
    """A compiled network: the archive's files, its metadata, and how to run it."""

    def __init__(
        self,
        files: dict[str, bytes],
        compile_seconds: float | None = None,
        tir_stages: Sequence[Any] = (),
        solver_seconds: float | None = None,
        compiled: Compiled | None = None,
    ) -> None:
        from tvm_pulp.codegen import mlf

        self.files = files
        # The main function after every TIR pass; a loaded archive has only the last, as text.
        self.tir_stages = tuple(tir_stages)
        self.compiled = compiled
        self.metadata = mlf.metadata(files)
        self._compile_seconds, self._solver_seconds = compile_seconds, solver_seconds
        self._runners: dict[tuple[str, str | None, tuple[tuple[str, str], ...]], Runner] = {}
        self._generator: Generator | None = None

    @staticmethod
    def load(path: str | Path) -> App:
        """Read an archive."""
        from tvm_pulp.codegen import mlf

        return App(mlf.read(Path(path)))

    def save(self, path: str | Path) -> None:
        """Write the archive."""
        from tvm_pulp.codegen import mlf

        mlf.write(Path(path), self.files)

    @property
    def plan(self) -> ShownPlan:
        """The deployment plan; notebooks show it as pictures."""
        from tvm_pulp.report.rich_display import shown_plan

        return shown_plan(self.files, self.metadata)

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray] | None = None,
        *,
        device: str | None = None,
        repeat: int = 1,
        trace: str | Path | None = None,
        toolchain: str | None = None,
        max_cycles: int | None = None,
        instruments: Instruments | None = None,
        layers: bool = False,
        device_options: Mapping[str, str] | None = None,
    ) -> Result:
        """Build, run, and report. Without inputs, seeded random ones. `trace` is short for instruments with a trace.

        `layers`: also what every layer made, of a network compiled with `keep_layers`.
        """
        from tvm_pulp.codegen.layer_captures import FILE as LAYERS_FILE
        from tvm_pulp.codegen.mlf import read_plan
        from tvm_pulp.report.html import RunDetails
        from tvm_pulp.report.inputs import prepare_inputs
        from tvm_pulp.report.report import run_report
        from tvm_pulp.sim.instruments import Instruments
        from tvm_pulp.sim.run_twice import check_same, run_twice
        from tvm_pulp.sim.runner import check_options, runner_class

        facts = self.metadata["tvm_pulp"]
        if "decoder" in facts:
            raise UserError("the archive holds a language model, which takes tokens: use `tvmc generate`")
        wanted = instruments or Instruments(trace=Path(trace) if trace is not None else None)
        chosen = device or ("host" if facts["soc"] == "host" else "iss")
        check_options(
            chosen, runner_class(chosen).capabilities, instruments=wanted, toolchain=toolchain, max_cycles=max_cycles
        )
        if layers and LAYERS_FILE not in self.files:
            raise UserError("run(layers=True) has nothing to show: compile the model with keep_layers=True")
        arrays = prepare_inputs(facts["inputs"], inputs)
        runner = self.runner(chosen, toolchain, device_options)
        runner.max_cycles = max_cycles
        runner.instruments = wanted
        run = run_twice(runner, self.metadata, arrays, trace=bool(wanted.wanted()))
        if wanted.trace is not None and run.statistics.trace is not None:
            wanted.trace.write_text(json.dumps(run.statistics.trace) + "\n", encoding="utf-8")
        for _ in range(repeat - 1):
            again = run_twice(runner, self.metadata, arrays)
            check_same(self.metadata, run.outputs, again.outputs, "in two runs of the same input")
        outputs = {o["name"]: value for o, value in zip(facts["outputs"], run.outputs, strict=True)}
        shown = runner.layers(arrays) if layers else None
        debug = getattr(runner, "debug_text", None)
        plan = read_plan(self.files)
        details = RunDetails(self.metadata, plan, run.statistics.activity)
        report = run_report(self.metadata, run.statistics, plan, self._compile_seconds, self._solver_seconds)
        report |= {"device": chosen, "device_revision": runner.revision()}
        return Result(outputs, report, debug, shown, self.compiled, arrays, details)

    def generate(
        self,
        prompt: str | Sequence[int],
        tokens: int,
        *,
        sampling: Sampling | None = None,
        forced: Sequence[int] = (),
    ) -> Iterator[int]:
        """Tokens that follow a prompt, as the simulated device produces them."""
        from tvm_pulp.language_models.generation.session import Sampling as Choice
        from tvm_pulp.language_models.generation.session import Wish

        ids = self.tokenizer().encode(prompt) if isinstance(prompt, str) else list(prompt)
        wish = Wish(ids, tokens, sampling or Choice(), tuple(forced))
        for made in self.generator().stream(wish):
            if isinstance(made, int):
                yield made

    def generator(self) -> Generator:
        """The program of a language model on the simulator, built once."""
        from tvm_pulp.language_models.generation.session import Generator

        if self._generator is None:
            self._generator = Generator(self.files, self.metadata)
        return self._generator

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that travels in the archive."""
        from tvm_pulp.language_models.generation.tokenizer import read_tokenizer

        if "tokenizer.json" not in self.files:
            raise UserError("the archive holds no tokenizer: give token numbers with --prompt-ids")
        return read_tokenizer(self.files["tokenizer.json"])

    def runner(self, name: str, toolchain: str | None = None, settings: Mapping[str, str] | None = None) -> Runner:
        """The device with the archive's program, built once."""
        from tvm_pulp.sim.runner import checked_settings, runner_class

        key = (name, toolchain, tuple(sorted((settings or {}).items())))
        if key not in self._runners:
            made = runner_class(name)()
            made.settings = checked_settings(name, settings or {})
            made.build(self.files, self.metadata, toolchain)
            self._runners[key] = made
        return self._runners[key]


# A path, `zoo:NAME`, a PyTorch program (`torch.export.ExportedProgram`), or a module of the dialect (`Imported`).
Model = str | Path | Any


def compile(
    model: Model,
    target: str = "c",
    *,
    example_inputs: Any = None,
    progress: Progress = _silent,
    **options: Any,
) -> App:
    """Compile a model file, `zoo:NAME` or a PyTorch model to an archive of C.

    A `torch.nn.Module` is exported for `example_inputs`, a tuple of tensors. Further options are the fields of
    `CompileOptions`.
    """
    from tvm_pulp.frontend.load import as_model

    check_option_names(options)
    return compile_with(as_model(model, example_inputs), CompileOptions(target=target, **options), progress)


def check_option_names(options: Mapping[str, Any]) -> None:
    """A name that no field has is a user error that says which one was meant."""
    known = [option.name for option in fields(CompileOptions)]
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"the options are {', '.join(known)}"
            raise UserError(f"compile() has no option '{name}': {hint}")


def compile_with(model: Model, options: CompileOptions, progress: Progress = _silent) -> App:
    """Compile with an options record; `progress` receives one line per stage."""
    started = time.perf_counter()
    from tvm_pulp.qnn import lineage
    from tvm_pulp.target import resolve_target
    from tvm_pulp.toolchain.project.project_files import project_files

    target, name = resolve_target(options), module_name(options)
    progress(f"importing {model if isinstance(model, (str, Path)) else 'a PyTorch program'}")
    decoder = decoder_request(model, options)
    if decoder is not None:
        from tvm_pulp.language_models.generation.compile_decoder import DecoderRequest, compile_decoder
        from tvm_pulp.language_models.generation.compile_exported import compile_exported

        stated = {"target": options.target, "soc": target.soc.name, "inferred_inputs": []}
        with bounded_depth():
            if isinstance(decoder, DecoderRequest):
                files = compile_decoder(decoder, target, stated, progress)
            else:
                files = compile_exported(decoder, target, stated, progress)
        return App(files | project_files(files), time.perf_counter() - started)
    from tvm_pulp.canonicalize.pipeline import canonicalize
    from tvm_pulp.planning.lowering import build_network

    imported = import_model(model, options)
    progress("canonicalizing")
    with bounded_depth():
        module, states = with_state(canonicalize(imported), options, target)
        module = target.prepare(module)
        progress("lowering")
        network = build_network(module, imported, name, states)
    solver_seconds: float | None = None
    facts = {"target": options.target, "soc": target.soc.name, "inferred_inputs": list(imported.inferred_inputs)}
    stages: Sequence[Any] = ()
    if target.soc.simulated:
        progress(f"{'planning' if options.plan is None else 'placing'} {len(network.layers)} layers")
        lowered = target.plan_with_state(lambda placed: build_network(module, imported, name, placed), states, name)
        planner = lowered.plan.planner
        solver_seconds = planner.seconds if planner is not None else None
        expected = {layer.layer.name: layer.added_cycles for layer in lowered.plan.layers}
        _tell_float(lowered.plan.network, imported, expected, progress)
        progress("emitting C")
        sample = _debug_inputs(lowered.plan.network, options) if options.debug else None
        files, stages, network = (
            target.emit(lowered, facts, sample, options.keep_layers),
            lowered.stages,
            lowered.plan.network,
        )
    else:
        from tvm_pulp.codegen.emit import emit

        _tell_float(network, imported, {}, progress)
        progress(f"emitting C for {len(network.layers)} layers")
        network = target.on_host(network)
        files = emit(network, facts, options.keep_layers).files
    assert network.origin is not None
    files["src/main.relax.txt"] = lineage.removed(module).script().encode()
    files["src/partitioned.relax.txt"] = network.origin.module.script().encode()
    compiled = Compiled(model, imported, network)
    return App(files | project_files(files), time.perf_counter() - started, stages, solver_seconds, compiled)


def _debug_inputs(network: Any, options: CompileOptions) -> list[np.ndarray]:
    """The inputs that a debug build compares its layers for."""
    from tvm_pulp.report.inputs import prepare_inputs

    if network.states:
        raise UserError("--debug does not know what a cache holds: drop it, or --state")
    described = [{"name": t.source, "shape": t.spec.shape, "dtype": t.spec.dtype} for t in network.inputs]
    return prepare_inputs(described, dict(options.debug_inputs) or None)


def _tell_float(network: Any, imported: Any, expected: Mapping[str, int], progress: Progress) -> None:
    """One line where layers run float."""
    from tvm_pulp.explain.float_layers import float_sentence

    sentence = float_sentence(network, imported.nodes, expected)
    if sentence is not None:
        progress(sentence)


def decoder_request(model: Model, options: CompileOptions) -> DecoderRequest | ExportedRequest | None:
    """The language model that a name of the zoo or a file means; None for any other model."""
    from tvm_pulp.frontend.zoo import decoders
    from tvm_pulp.language_models.generation.exported_request import exported_request

    is_file = isinstance(model, (str, Path)) and not str(model).startswith("zoo:")
    stated = str(model) if isinstance(model, (str, Path)) else "the program"
    if (name := stated.removeprefix("zoo:")) == stated or name not in decoders.MODELS:
        made = exported_request(Path(model), options, module_name(options)) if is_file else None
        for option, given in (("--capacity", options.capacity), ("--tokenizer", options.tokenizer)):
            if made is None and given is not None:
                raise UserError(f"{option} has no effect on '{stated}', which has no recognised cache: drop it")
        return made
    from tvm_pulp.language_models.generation.compile_decoder import DecoderRequest

    ineffective = {
        "--input-shapes": options.input_shapes,
        "--input-types": options.input_types,
        "--sample-inputs": options.sample_inputs,
        "--model-format": options.model_format,
        "--plan": options.plan,
        "--state": options.state,
        "--debug": options.debug,
        "--tokenizer": options.tokenizer,
    }
    for option, value in ineffective.items():
        if value:
            raise UserError(f"{option} has no effect on a language model of the zoo: drop it")
    known = decoders.MODELS[name]
    capacity = known.capacity if options.capacity is None else options.capacity
    chunk = max(1, min(known.chunk, capacity))
    weights = decoders.build_decoder(name)
    return DecoderRequest(module_name(options), weights, capacity, chunk, decoders.tokenizer_file(name))


def import_model(model: Model, options: CompileOptions) -> Any:
    """Import a file, a zoo model or a PyTorch program; with integer ends where they are wanted."""
    imported = _import(model, options)
    if options.io is not None:
        from tvm_pulp.canonicalize.integer_ends import integer_ends

        imported = integer_ends(imported, options.io)
    return imported


def _import(model: Model, options: CompileOptions) -> Any:
    from tvm_pulp.frontend.imported import Imported, ImportOptions
    from tvm_pulp.frontend.load import import_onnx_graph, import_program, load_model

    import_options = ImportOptions(
        options.model_format,
        {name: tuple(shape) for name, shape in options.input_shapes.items()},
        dict(options.input_types),
        options.sample_inputs,
    )
    if isinstance(model, Imported):
        return model
    if not isinstance(model, (str, Path)):
        if options.model_format is not None:
            raise UserError("--model-format has no effect on a PyTorch program: drop it")
        return import_program(model, import_options)
    text = str(model)
    if text.startswith("zoo:"):
        from tvm_pulp.frontend import zoo
        from tvm_pulp.frontend.onnx_file import from_model

        if options.model_format is not None:
            raise UserError("--model-format has no effect on a model of the zoo: drop it")
        return import_onnx_graph(from_model(zoo.build(text.removeprefix("zoo:"))), import_options)
    return load_model(Path(model), import_options)


def with_state(module: Any, options: CompileOptions, target: Any) -> tuple[Any, tuple[State, ...]]:
    """The canonical module with caches as state, where that is wanted."""
    if not options.state:
        if options.state_memory is not None:
            raise UserError("--state-memory has no effect on a network without state: drop it, or add --state")
        return module, ()
    from tvm_pulp.canonicalize.state_caches import state_caches

    if not target.soc.simulated:
        raise UserError(f"--state has no effect on --soc {target.soc.name}: choose a SoC with a cluster")
    made, states = state_caches(module)
    if not states:
        raise UserError(
            "--state: no cache is recognised, an input joined with new rows along its positions that goes out and into "
            "attention: drop it"
        )
    return made, states


def module_name(options: CompileOptions) -> str:
    """The module name, checked to be a C identifier."""
    name = options.module_name
    if not name.isidentifier() or not name.isascii():
        raise UserError(f"--module-name '{name}' is not a C identifier: use letters, digits and underscores")
    return name


def plan_entries(model: Model, options: CompileOptions) -> dict[str, LoweredPlan]:
    """Plans of every entry point by name; an ordinary network has one without a name."""
    decoder = decoder_request(model, options)
    if decoder is None:
        return {"": plan_model(model, options)}
    from tvm_pulp.language_models.generation.compile_decoder import DecoderRequest, plan_decoder
    from tvm_pulp.language_models.generation.compile_exported import plan_exported
    from tvm_pulp.target import resolve_target

    target = resolve_target(options)
    if isinstance(decoder, DecoderRequest):
        return plan_decoder(decoder, target, _silent)
    return {name: entry.lowered for name, entry in plan_exported(decoder, target, _silent).items()}


def plan_model(model: Model, options: CompileOptions) -> LoweredPlan:
    """Plan a model for a SoC with a cluster, without emitting anything."""
    from tvm_pulp.canonicalize.pipeline import canonicalize
    from tvm_pulp.planning.lowering import build_network
    from tvm_pulp.soc import DEFAULT
    from tvm_pulp.target import resolve_target

    target = resolve_target(options)
    if not target.soc.simulated:
        raise UserError(f"--soc {target.soc.name} has no cluster to plan for: choose --soc={DEFAULT} or an engine")
    imported = import_model(model, options)
    with bounded_depth():
        module, states = with_state(canonicalize(imported), options, target)
        module = target.prepare(module)
    name = module_name(options)
    return target.plan_with_state(lambda placed: build_network(module, imported, name, placed), states, name)
