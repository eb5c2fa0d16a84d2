"""One entry of the table of options: how it is written, what it means, and what it has an effect on."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

# Verbs of the command line that read a model.
MODEL_VERBS = ("compile", "crosscheck", "explain", "plan", "verify")


class ModelKind(Flag):
    """Kinds of models, as far as options tell them apart."""

    ONNX_FILE = auto()
    ONNX_MODEL = auto()
    TFLITE_FILE = auto()
    PROGRAM_FILE = auto()
    PROGRAM = auto()
    MODULE = auto()
    ZOO_NETWORK = auto()
    EXPORTED_DECODER = auto()
    ZOO_DECODER = auto()
    READ = ONNX_FILE | ONNX_MODEL | TFLITE_FILE | PROGRAM_FILE | PROGRAM | ZOO_NETWORK
    NETWORK = READ | MODULE
    FILE = ONNX_FILE | TFLITE_FILE | PROGRAM_FILE | EXPORTED_DECODER
    DECODER = EXPORTED_DECODER | ZOO_DECODER
    ANY = NETWORK | DECODER

    def describe(self, model: str) -> str:
        """A model of this kind, in a sentence about it."""
        return _DESCRIPTIONS[self].format(model)


_DESCRIPTIONS = {
    ModelKind.ONNX_FILE: "'{}', an ONNX file without a recognised cache",
    ModelKind.ONNX_MODEL: "an ONNX model without a recognised cache",
    ModelKind.TFLITE_FILE: "'{}', a TFLite file",
    ModelKind.PROGRAM_FILE: "'{}', a framework's file",
    ModelKind.PROGRAM: "a framework's program",
    ModelKind.MODULE: "a module that is imported already",
    ModelKind.ZOO_NETWORK: "'{}', a network of the zoo",
    ModelKind.EXPORTED_DECODER: "a decoder whose cache is state",
    ModelKind.ZOO_DECODER: "a language model of the zoo",
}


@dataclass(frozen=True)
class Option:
    """An entry of the table: everything about an option beside its name, its type and its default."""

    help: str
    # As the command line writes it; "" where only programs state it.
    flag: str = ""
    group: str = ""
    metavar: str | None = None
    # What a text of the command line stands for.
    parse: Callable[[str], Any] = str
    # It may be given several times, and is a mapping.
    repeats: bool = False
    choices: tuple[str, ...] = ()
    verbs: tuple[str, ...] = MODEL_VERBS
    # Models that it has an effect on, and whether it has one on a CPU by itself, also this machine, and on a cluster.
    models: ModelKind = ModelKind.ANY
    on_host: bool = True
    on_cluster: bool = True
    # A plan that is given decides it.
    in_plan: bool = False
    # A study varies it; MLonMCU has a setting of its name.
    in_studies: bool = True
    in_mlonmcu: bool = False

    @property
    def full_help(self) -> str:
        """The help text with the values to choose from."""
        return f"{self.help} [{', '.join(self.choices)}]" if self.choices else self.help
