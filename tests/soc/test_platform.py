"""Platforms: defines, levels, architecture and files follow from the description."""

from pathlib import Path

import pytest

from tvm_pulp import soc
from tvm_pulp.errors import UserError
from tvm_pulp.soc.platform import Platform

BASE = soc.load("siracusa")


def test_engines_tell_their_drivers_where_they_are() -> None:
    moved = BASE.with_settings({"engines.neureka.base": 0x10201C00, "engines.neureka.event_line": 14})
    assert {"NEUREKA_BASE=0x10201c00u", "NEUREKA_EVENT_LINE=14u"} <= set(Platform(moved).defines())


def test_float_is_a_matter_of_the_network_and_the_cores() -> None:
    plain = BASE.with_settings({"cluster.isa.single_float": False})
    marches = [Platform(s).march(uses_float=f) for s in (BASE, plain) for f in (True, False)]
    assert marches == ["rv32imfc", "rv32imc", "rv32imc", "rv32imc"]


def test_levels_of_constants() -> None:
    assert Platform(BASE).constant_levels() == {"weight_mram": 1 << 22, "weight_sram": 1 << 22, "l3": 1 << 23}


def test_parts_do_not_exceed_the_memory() -> None:
    with pytest.raises(UserError, match=r"weight_parts are larger than memory.weight.size"):
        BASE.with_settings({"memory.weight.size": 0x400000})


def test_every_family_has_its_files() -> None:
    for family in ("xpulp", "rv32", "generic"):
        kernel = "lookup" if family == "generic" else "conv2d"
        files = Platform(BASE.with_settings({"software.kernels": family})).kernel_files([f"tvm_pulp_kernel_{kernel}"])
        assert f"kernels/{family}/{kernel}.c" in files and "kernels/include/tvm_pulp/kernels.h" in files
        assert f"kernels/{family}/gelu.c" not in files


def test_code_for_what_few_networks_have_is_in_their_archives_only() -> None:
    """Kernels of the others are as they were without it, and so is the place of every function."""
    called = ["tvm_pulp_kernel_conv2d", "tvm_pulp_kernel_depthwise_conv2d"]
    usual, others = Platform(BASE).kernel_files(called), Platform(BASE).kernel_files(called, ["float biases"])
    text = "".join(usual.values())
    assert "HIGH_WORD" not in text and "high_word" not in text and "float biases" not in text
    assert {p.rpartition("/")[2] for p in others.keys() - usual.keys()} == {
        "tile_high_word.c", "tile_high_word.h", "depthwise_high_word_rows.c", "requantize_high_word.c",
    }  # fmt: skip
    assert "<float biases>" not in "".join(others.values())
    assert "TVM_PULP_REQUANT_HIGH_WORD" in others["kernels/include/tvm_pulp/elements.h"]


def test_kernels_nobody_calls_need_no_files() -> None:
    assert Platform(BASE).kernel_files([]) == {}


def test_a_key_with_nothing_behind_it_is_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text("based_on: siracusa\nname: plain\nengines: {neureka: }\n")
    assert soc.load(path).engines == {} and "NEUREKA" not in " ".join(Platform(soc.load(path)).defines())
