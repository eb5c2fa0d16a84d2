"""The table of options of a compilation: each with its name, type, default, meaning, and what it has an effect on.

The command line, `tvm_pulp.compile`, settings of MLonMCU, studies, and the errors about options without effect are made
from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvm_pulp.errors import UserError, meant, refuse_if
from tvm_pulp.input_file import check_input_file, is_absent, is_folder, is_input_file
from tvm_pulp.option import ModelKind, Option
from tvm_pulp.option_values import parse_pin, parse_shapes, parse_types, read_arrays

if TYPE_CHECKING:
    import numpy as np

    from tvm_pulp.soc import Soc

# Formats of model files by the ends of their names; a SavedModel is a folder.
MODEL_SUFFIXES = {
    ".onnx": "onnx",
    ".tflite": "tflite",
    ".pt2": "pytorch",
    ".keras": "keras",
    ".stablehlo": "stablehlo",
    ".mlir": "stablehlo",
}
MODEL_FORMATS = (*dict.fromkeys(MODEL_SUFFIXES.values()), "saved_model")
# Those of float models: a TFLite file is quantized by whoever converts it.
FLOAT_FORMATS = tuple(name for name in MODEL_FORMATS if name != "tflite")
IO_TYPES = ("int8", "uint8")
RECURRENT_TYPES = ("int8",)
STATE_LEVELS = ("l1", "l2", "l3")
# The first is the default.
PLANNERS = ("solver", "greedy")
EFFORTS = ("best", "fast", "rough")

# The file that makes a folder a SavedModel of TensorFlow.
SAVED_MODEL = "saved_model.pb"

# Before the name of a built-in model.
ZOO = "zoo:"

Arrays = Sequence[tuple[str, "np.ndarray"]]


def model_files(*formats: str) -> str:
    """Model files of these formats, or of all, in words."""
    ends = [end for end, name in MODEL_SUFFIXES.items() if name in (formats or MODEL_FORMATS)]
    return f"{', '.join(ends)} or a SavedModel"


def check_exists(path: Path) -> None:
    """Raise where a model file is missing."""
    if is_input_file(path) or is_input_file(path / SAVED_MODEL):
        return
    if not is_absent(path) and not is_folder(path):
        check_input_file(path, f"model file '{path}' cannot be read")
    raise UserError(f"model file '{path}' does not exist: check the path, or use {ZOO}NAME for a built-in model")


def _entry(meaning: str, flag: str = "", group: str = "", **facts: Any) -> dict[str, Option]:
    """The entry of a field in the table."""
    return {"option": Option(meaning, flag, group, **facts)}


_TARGET, _MODEL, _PLANNING = "target", "model", "planning"
# Names of files in an archive hold the module's name, and more.
_LONGEST_NAME = 64
_LANGUAGE, _DEBUGGING = "caches and language models", "finding a wrong layer"
# Options of planning, and those that only networks have, which are called once and forget.
_PLANNED: dict[str, Any] = {"group": _PLANNING, "on_host": False, "in_plan": True}
_CPUS: dict[str, Any] = {
    "group": _PLANNING,
    "on_cluster": False,
    "in_plan": True,
    "verbs": ("compile", "plan"),
    "models": ModelKind.NETWORK,
}
_NETWORKS: dict[str, Any] = {"models": ModelKind.NETWORK}
# Models that are graphs of ONNX on their way.
_GRAPHS = ModelKind.ONNX_FILE | ModelKind.PROGRAM_FILE | ModelKind.PROGRAM | ModelKind.ZOO_NETWORK
_DEBUG: dict[str, Any] = {
    "group": _DEBUGGING,
    "verbs": ("compile",),
    "in_studies": False,
    **_NETWORKS,
}


@dataclass(frozen=True)
class CompileOptions:
    """Everything that can be said about a compilation; the command line's options, one for one."""

    target: str = field(default="c", metadata=_entry(
        "engines by priority, comma separated (see `tvmc targets`); default: c, no accelerator", "--target", _TARGET,
        metavar="LIST", in_studies=False,
    ))  # fmt: skip
    soc: "str | Path | Soc | None" = field(default=None, metadata=_entry(
        "system on chip, a name or a file; default: the one that carries the engines, for --target=c host, which "
        "is this machine", "--soc", _TARGET, metavar="NAME", in_studies=False,
    ))  # fmt: skip
    # {"ENGINE": {"OPTION": "VALUE"}}; the command line writes --target-uma-ENGINE-OPTION VALUE.
    engine_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, metadata=_entry(
        "options of engines, by engine and name",
    ))  # fmt: skip
    model_format: str | None = field(default=None, metadata=_entry(
        "format of the file; default: from its name", "--model-format", _MODEL, metavar="NAME",
        choices=MODEL_FORMATS, models=ModelKind.FILE,
    ))  # fmt: skip
    module_name: str = field(default="default", metadata=_entry(
        "prefix of C names: tvmgen_<NAME>_run", "--module-name", _MODEL, metavar="NAME",
    ))  # fmt: skip
    input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict, metadata=_entry(
        'fix dynamic shapes: "x:[1,3,32,32]"', "--input-shapes", _MODEL, metavar="SPEC", parse=parse_shapes,
        models=ModelKind.READ | ModelKind.EXPORTED_DECODER,
    ))  # fmt: skip
    input_types: Mapping[str, str] = field(default_factory=dict, metadata=_entry(
        'types of integer inputs: "x:uint8,mask:int8"', "--input-types", _MODEL, metavar="SPEC", parse=parse_types,
        models=ModelKind.READ,
    ))  # fmt: skip
    sample_inputs: Arrays = field(default=(), metadata=_entry(
        "arrays from whose range input types are inferred", "--sample-inputs", _MODEL, metavar="F.npz",
        parse=partial(read_arrays, option="--sample-inputs"), in_studies=False,
        models=ModelKind.ONNX_FILE | ModelKind.ONNX_MODEL | ModelKind.ZOO_NETWORK,
    ))  # fmt: skip
    io: str | None = field(default=None, metadata=_entry(
        "take and return integers: float inputs and outputs lose their quantization, the header gains its scales",
        "--io", _MODEL, metavar="TYPE", choices=IO_TYPES, in_mlonmcu=True, **_NETWORKS,
    ))  # fmt: skip
    recurrent: str | None = field(default=None, metadata=_entry(
        "int8: LSTM, GRU and RNN that the model leaves in float multiply 8-bit integers, which costs some accuracy",
        "--recurrent", _MODEL, metavar="TYPE", choices=RECURRENT_TYPES, in_mlonmcu=True, models=_GRAPHS,
    ))  # fmt: skip
    # Bytes, or a text such as "64k".
    l1: int | str | None = field(default=None, metadata=_entry(
        "L1 that tiles may use, as 65536 or 64k; default: all of it", "--l1", metavar="BYTES", in_mlonmcu=True,
        **_PLANNED,
    ))  # fmt: skip
    l2: int | str | None = field(default=None, metadata=_entry(
        "L2 for activations and constants; default: all but code", "--l2", metavar="BYTES", in_mlonmcu=True,
        **_PLANNED,
    ))  # fmt: skip
    ram: int | str | None = field(default=None, metadata=_entry(
        "RAM of a CPU by itself: activations, inputs, outputs and stack; where it is little, the first layers are "
        "computed in strips of rows; default: all of it", "--ram", metavar="BYTES", in_mlonmcu=True, **_CPUS,
    ))  # fmt: skip
    flash: int | str | None = field(default=None, metadata=_entry(
        "flash of a CPU by itself: code and constants; where there is more than they need, weights of 16 bits make "
        "layers faster; default: all of it, weights of 8 bits", "--flash", metavar="BYTES", in_mlonmcu=True, **_CPUS,
    ))  # fmt: skip
    threads: int | None = field(default=None, metadata=_entry(
        "of this machine: larger layers come in as many parts, which threads of the caller can share "
        "(tvmgen_<NAME>_run_shared); default: 1", "--threads", metavar="N", parse=int, in_mlonmcu=True, **_CPUS,
    ))  # fmt: skip
    cores: int | None = field(default=None, metadata=_entry(
        "cluster cores that take part; default: all", "--cores", metavar="N", parse=int, in_mlonmcu=True,
        **_PLANNED,
    ))  # fmt: skip
    planner: str | None = field(default=None, metadata=_entry(
        "solver: constraint solver for the whole network (default); greedy: layer by layer, as a baseline",
        "--planner", metavar="NAME", choices=PLANNERS, in_mlonmcu=True, **_PLANNED,
    ))  # fmt: skip
    effort: str | None = field(default=None, metadata=_entry(
        "best: search until nothing faster is expected (default); fast: the rules alone, without solver and "
        "variations; rough: one plan that overlaps, to compare with others of its kind",
        "--effort", metavar="NAME", choices=EFFORTS, in_mlonmcu=True, **_PLANNED,
    ))  # fmt: skip
    pins: Mapping[str, str] = field(default_factory=dict, metadata=_entry(
        "run a layer on an engine, or on two (ENGINE+cluster); repeat for more", "--pin", metavar="NODE=ENGINE",
        parse=parse_pin, repeats=True, in_mlonmcu=True, **_PLANNED,
    ))  # fmt: skip
    # A file, or what is in one.
    decide: "str | Path | Mapping[str, Any] | None" = field(default=None, metadata=_entry(
        "keep to decisions that a JSON file states: an order of layers, their engines, forms and tiles, levels of "
        "constants", "--decide", metavar="FILE", **{**_PLANNED, **_NETWORKS, "on_host": True}, in_studies=False,
    ))  # fmt: skip
    double_buffer: bool = field(default=True, metadata=_entry(
        "nothing is fetched ahead: transfers and computation alternate", "--no-double-buffer", in_mlonmcu=True,
        **_PLANNED,
    ))  # fmt: skip
    plan: str | Path | None = field(default=None, metadata=_entry(
        "take all decisions from an archive, or from its plan.json, instead of planning", "--plan", _PLANNING,
        metavar="FILE", in_studies=False, **_NETWORKS,
    ))  # fmt: skip
    state: bool = field(default=False, metadata=_entry(
        "caches that go in and come out stay in the device, appended in place", "--state", _LANGUAGE,
        on_host=False, **_NETWORKS,
    ))  # fmt: skip
    state_memory: str | None = field(default=None, metadata=_entry(
        "memory in which caches lie; default: as the planner finds best", "--state-memory", metavar="LEVEL",
        choices=STATE_LEVELS, **{**_PLANNED, "group": _LANGUAGE},
    ))  # fmt: skip
    capacity: int | None = field(default=None, metadata=_entry(
        "tokens that the cache of a language model holds", "--capacity", _LANGUAGE, metavar="N", parse=int,
        models=ModelKind.DECODER,
    ))  # fmt: skip
    tokenizer: str | Path | None = field(default=None, metadata=_entry(
        "tokenizer.json of a language model; travels in the archive", "--tokenizer", _LANGUAGE, metavar="FILE",
        models=ModelKind.EXPORTED_DECODER,
    ))  # fmt: skip
    encoder: str | Path | None = field(default=None, metadata=_entry(
        "ONNX file of an encoder, which runs once for a text: what it makes is given to the decoder", "--encoder",
        _LANGUAGE, metavar="FILE", models=ModelKind.EXPORTED_DECODER,
    ))  # fmt: skip
    check_constants: bool = field(default=False, metadata=_entry(
        "the program compares its constants in L3 and weight memory with checksums before the first inference",
        "--check-constants", _TARGET, verbs=("compile",), on_host=False, in_studies=False, **_NETWORKS,
    ))  # fmt: skip
    debug: bool = field(default=False, metadata=_entry(
        "check at run time what each layer makes of a sample input, and the bytes between buffers: the first wrong "
        "layer is named", "--debug", in_plan=True, in_mlonmcu=True, **_DEBUG,
    ))  # fmt: skip
    debug_inputs: Arrays = field(default=(), metadata=_entry(
        "the sample input; default: the seeded values that `tvmc run` takes", "--debug-inputs", metavar="F.npz",
        parse=partial(read_arrays, option="--debug-inputs"), **_DEBUG,
    ))  # fmt: skip
    # The program shows what every layer made: `App.run(layers=True)`, `Result.compare`. Cycles of it say nothing.
    keep_layers: bool = field(default=False, metadata=_entry(
        "the program shows what every layer made", in_studies=False, **_NETWORKS,
    ))  # fmt: skip

    def __post_init__(self) -> None:
        """Check values that do not depend on a model or a SoC."""
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if option.choices and value is not None and value not in option.choices:
                known = f"{', '.join(option.choices[:-1])} or {option.choices[-1]}"
                raise UserError(f"{shown(name)} '{value}' is unknown: choose {known}")
        refuse_if(
            not self.module_name.isidentifier() or not self.module_name.isascii(),
            f"--module-name '{self.module_name}' is not a C identifier: use letters, digits and underscores",
        )
        refuse_if(
            len(self.module_name) > _LONGEST_NAME,
            f"--module-name '{self.module_name[:20]}...' has {len(self.module_name)} characters, and names of files "
            f"with it at most {_LONGEST_NAME}: choose a shorter one",
        )
        refuse_if(
            self.debug_inputs and not self.debug, "--debug-inputs has no effect without --debug: give both or none"
        )
        refuse_if(
            self.keep_layers and (self.ram is not None or self.flash is not None),
            "keep_layers keeps what every layer made, which no ram or flash limits: drop one of them",
        )
        refuse_if(self.threads is not None and self.threads < 1, f"--threads {self.threads}: must be at least 1")
        refuse_if(
            self.threads is not None and (self.ram is not None or self.keep_layers),
            f"--threads has no effect beside {'--ram' if self.ram is not None else 'keep_layers'}: drop one of them",
        )
        refuse_if(
            self.debug and (self.ram is not None or self.threads is not None),
            f"--debug compares layers, which {'--ram' if self.ram is not None else '--threads'} cuts: drop one of them",
        )
        refuse_if(
            self.planner == "greedy" and not self.double_buffer,
            "--no-double-buffer has no effect on --planner greedy, which never buffers twice: drop it",
        )
        refuse_if(
            self.planner == "greedy" and self.effort is not None,
            "--effort has no effect on --planner greedy, which searches nothing: drop one of them",
        )

    def stated(self) -> Iterator[tuple[str, Option]]:
        """Names and entries of the options that differ from their defaults."""
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if len(value) > 0 if isinstance(value, Mapping | list | tuple) else value != DEFAULTS[name]:
                yield name, option

    def check_model(self, kind: ModelKind, model: str, perhaps: ModelKind | None = None) -> None:
        """Raise where an option has no effect on a model of a kind, nor on another that it may turn out to be."""
        for name, option in self.stated():
            takes = bool((kind | (perhaps or kind)) & option.models)
            refuse_if(not takes, f"{shown(name)} has no effect on {kind.describe(model)}: drop it")

    def check_soc(self, soc: "Soc") -> None:
        """Raise where an option has no effect on a SoC, or beside a plan that decides everything."""
        for name, option in self.stated():
            refuse_if(
                not option.on_host and not soc.simulated,
                f"{shown(name)} has no effect on --soc {soc.name}: drop it or choose a SoC with a cluster",
            )
            refuse_if(
                not option.on_cluster and soc.simulated,
                f"{shown(name)} has no effect on --soc {soc.name}: drop it, or limit its memories by --l1 and --l2",
            )
            refuse_if(
                name == "check_constants" and not soc.memory.l3.size and not soc.software.weight_parts,
                f"--check-constants has no effect on --soc {soc.name}, which has neither L3 nor weight memory: drop it",
            )
            if option.in_plan and self.plan is not None:
                raise UserError(f"{shown(name)} has no effect with --plan, which decides everything: drop one of them")


# The table by name.
OPTIONS: dict[str, Option] = {entry.name: entry.metadata["option"] for entry in fields(CompileOptions)}
DEFAULTS: dict[str, Any] = {
    entry.name: entry.default_factory() if callable(entry.default_factory) else entry.default
    for entry in fields(CompileOptions)
}


def shown(name: str) -> str:
    """An option as the user writes it: its flag, or its name where it has none."""
    return OPTIONS[name].flag or name


def check_option_names(options: Mapping[str, Any]) -> None:
    """Raise for a name that no option has, and say which one was meant."""
    for name in options:
        if name not in OPTIONS:
            hint = meant(name, OPTIONS, f"the options are {', '.join(OPTIONS)}")
            raise UserError(f"compile() has no option '{name}': {hint}")
