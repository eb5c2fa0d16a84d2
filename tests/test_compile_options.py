"""Every option, on every kind of model and of SoC, is either obeyed or refused with a sentence that says so."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.codegen import small_networks
from tests.language_models.exported_decoders import exported
from tvm_pulp import soc
from tvm_pulp.api import Compilation, compile_with
from tvm_pulp.compile_options import DEFAULTS, OPTIONS, CompileOptions, shown
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.option import MODEL_VERBS, ModelKind, Option
from tvm_pulp.tvmc.argument import add_arguments
from tvm_pulp.tvmc.model_options import model_arguments, options_of

ARRAYS = [("x", np.zeros(1, np.int8))]
# A value of every option that is not the default; with what it needs beside it.
STATED: dict[str, dict[str, Any]] = {
    "target": {"target": "c"},
    "soc": {"soc": "siracusa"},
    "engine_options": {"engine_options": {}},
    "model_format": {"model_format": "onnx"},
    "module_name": {"module_name": "net"},
    "input_shapes": {"input_shapes": {"x": (1,)}},
    "input_types": {"input_types": {"x": "int8"}},
    "sample_inputs": {"sample_inputs": ARRAYS},
    "io": {"io": "int8"},
    "recurrent": {"recurrent": "int8"},
    "l1": {"l1": "64k"},
    "l2": {"l2": "512k"},
    "cores": {"cores": 2},
    "planner": {"planner": "greedy"},
    "effort": {"effort": "fast"},
    "ram": {"ram": "64k"},
    "flash": {"flash": "512k"},
    "threads": {"threads": 2},
    "pins": {"pins": {"x": "cluster"}},
    "decide": {"decide": {"order": []}},
    "double_buffer": {"double_buffer": False},
    "plan": {"plan": "plan.json"},
    "state": {"state": True},
    "state_memory": {"state_memory": "l2"},
    "capacity": {"capacity": 8},
    "tokenizer": {"tokenizer": "tokenizer.json"},
    "encoder": {"encoder": "encoder.onnx"},
    "check_constants": {"check_constants": True},
    "debug": {"debug": True},
    "debug_inputs": {"debug": True, "debug_inputs": ARRAYS},
    "keep_layers": {"keep_layers": True},
}
KINDS = [kind for kind in ModelKind if kind in ModelKind.ANY]
# Kinds whose way through the compiler is followed to the end; the others differ from a network of ONNX in their import.
FOLLOWED = (ModelKind.ONNX_FILE, ModelKind.ZOO_NETWORK, ModelKind.EXPORTED_DECODER, ModelKind.ZOO_DECODER)


def model_of(kind: ModelKind, folder: Path) -> Any:
    """A model of a kind; of those that only tell their kind, nothing but that."""
    if kind is ModelKind.ONNX_FILE:
        onnx.save(small_networks.classifier(), str(folder / "net.onnx"))
    elif kind is ModelKind.EXPORTED_DECODER:
        (folder / "decoder.onnx").write_bytes(exported("llama", "static"))
    for name in ("net.tflite", "net.stablehlo"):
        (folder / name).write_bytes(b"")
    return {
        ModelKind.ONNX_FILE: folder / "net.onnx",
        ModelKind.ONNX_MODEL: small_networks.classifier(),
        ModelKind.TFLITE_FILE: folder / "net.tflite",
        ModelKind.PROGRAM_FILE: folder / "net.stablehlo",
        ModelKind.PROGRAM: object(),
        ModelKind.MODULE: Imported(None, (), (), "pulp"),
        ModelKind.ZOO_NETWORK: "zoo:autoencoder",
        ModelKind.EXPORTED_DECODER: folder / "decoder.onnx",
        ModelKind.ZOO_DECODER: "zoo:llama_0.5m",
    }[kind]


def needed(kind: ModelKind) -> dict[str, Any]:
    return {"capacity": 8} if kind is ModelKind.EXPORTED_DECODER else {}


class Read(CompileOptions):
    """Options that remember who asked for them: the table's own checks do not count."""

    def __getattribute__(self, name: str) -> Any:
        if name in OPTIONS and not sys._getframe(1).f_code.co_filename.endswith("compile_options.py"):
            READ.add(name)
        return super().__getattribute__(name)


READ: set[str] = set()


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan that could be obeyed."""
    options = CompileOptions(soc="siracusa", planner="greedy")
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    path.write_bytes(Compilation("zoo:autoencoder", options).files["plan.json"])
    return path


def test_every_option_has_a_value_here() -> None:
    assert STATED.keys() == OPTIONS.keys() == DEFAULTS.keys()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_options_without_effect_on_a_model_are_refused(kind: ModelKind, tmp_path: Path, plan: Path) -> None:
    model = model_of(kind, tmp_path)
    refused = [name for name, option in OPTIONS.items() if kind not in option.models]
    assert refused
    for name in refused:
        stated = STATED[name] if name != "plan" else {"plan": plan}
        chip = "siracusa" if OPTIONS[name].on_cluster else "host"
        options = CompileOptions(**{"soc": chip, **needed(kind), **stated})
        first = next(iter(STATED[name]))
        with pytest.raises(UserError, match=rf"^{re.escape(shown(first))} has no effect on .*: drop it$"):
            compile_with(model, options)


def test_a_program_that_may_be_a_decoder_is_not_read_for_an_option_that_neither_takes(tmp_path: Path) -> None:
    (tmp_path / "net.pt2").write_bytes(b"")
    neither = ModelKind.PROGRAM_FILE | ModelKind.EXPORTED_DECODER
    names = [name for name, option in OPTIONS.items() if not option.models & neither]
    assert names
    for name in names:
        with pytest.raises(UserError, match=r" has no effect on .*: drop it$"):
            compile_with(tmp_path / "net.pt2", CompileOptions(soc="siracusa", **STATED[name]))


@pytest.mark.parametrize("kind", FOLLOWED, ids=lambda kind: str(kind.name))
def test_options_with_an_effect_on_a_model_are_read(kind: ModelKind, tmp_path: Path) -> None:
    READ.clear()
    options = Read(soc="siracusa", planner="greedy", **needed(kind))
    compilation = Compilation(model_of(kind, tmp_path), options)
    assert compilation.kind is kind and compilation.files
    assert {name for name, option in OPTIONS.items() if kind in option.models} <= READ


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if not option.on_host])
def test_options_without_effect_on_this_machine_are_refused(name: str) -> None:
    first = next(iter(STATED[name]))
    with pytest.raises(UserError, match=rf"^{shown(first)} has no effect on --soc host: drop it or choose a SoC"):
        Compilation("zoo:autoencoder", CompileOptions(**STATED[name]))
    CompileOptions(**STATED[name]).check_soc(soc.load("siracusa"))


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if not option.on_cluster])
def test_options_of_single_cores_are_refused_on_a_cluster(name: str) -> None:
    with pytest.raises(UserError, match=rf"^{shown(name)} has no effect on --soc siracusa: drop it, or limit"):
        Compilation("zoo:autoencoder", CompileOptions(soc="siracusa", **STATED[name]))


def test_options_with_an_effect_on_this_machine_are_read() -> None:
    READ.clear()
    assert Compilation("zoo:autoencoder", Read()).files
    kind = ModelKind.ZOO_NETWORK
    assert {name for name, option in OPTIONS.items() if option.on_host and kind in option.models} <= READ


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_the_command_line_takes_what_the_table_offers(verb: str) -> None:
    """Whatever a sentence recommends is one of the choices, and each of them is taken."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, model_arguments(verb))
    for name, option in OPTIONS.items():
        for choice in option.choices:
            args = parser.parse_args(["zoo:autoencoder", option.flag, choice])
            args.engine_options = {}
            assert getattr(options_of(args), name) == choice
    text = parser.format_help()
    for option in OPTIONS.values():
        assert (bool(option.flag) and verb in option.verbs) == (bool(option.flag) and f"{option.flag} " in text), option
        assert not option.flag or verb not in option.verbs or f"\n{option.group}:\n" in text


def test_every_entry_says_what_it_is_for() -> None:
    for name, option in OPTIONS.items():
        assert isinstance(option, Option) and option.help and (option.group or not option.flag), name


@pytest.mark.parametrize(("name", "wrong"), [("model_format", "pickle"), ("io", "int4"), ("state_memory", "l4")])
def test_a_value_that_is_no_choice_names_the_choices(name: str, wrong: str) -> None:
    with pytest.raises(
        UserError, match=rf"{shown(name)} '{wrong}' is unknown: choose .* or {OPTIONS[name].choices[-1]}"
    ):
        CompileOptions(**{name: wrong})
