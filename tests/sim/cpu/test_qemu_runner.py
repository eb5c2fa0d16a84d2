"""Device qemu: programs on emulated boards give the host's outputs, and say what they cost in instructions."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.schedules.cpu.test_layers_on_cores import EMULATED, skip_without
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.sim.qemu.boards import Emulated


@pytest.mark.sample(1)
@pytest.mark.parametrize("soc", EMULATED)
def test_a_network_runs_and_its_instructions_are_counted(soc: str) -> None:
    skip_without(soc)
    made, wanted = tvm_pulp.compile("zoo:dscnn", soc=soc).run(device="qemu"), tvm_pulp.compile("zoo:dscnn").run()
    for name, value in wanted.outputs.items():
        np.testing.assert_array_equal(made.outputs[name], value, err_msg=name)
    layers = [layer["instructions"] for layer in made.report["layers"]]
    assert made.report["instructions"] == sum(layers) and min(layers) > 0
    assert made.report["code_bytes"] > 0 and made.report["cycles"] is None


def test_every_layer_can_be_looked_at() -> None:
    skip_without("aarch64")
    made = tvm_pulp.compile("zoo:dscnn", soc="aarch64", keep_layers=True).run(layers=True, device="qemu")
    wanted = tvm_pulp.compile("zoo:dscnn", keep_layers=True).run(layers=True)
    assert made.layers is not None and wanted.layers is not None and len(made.layers) == 10
    for name, value in wanted.layers.items():
        np.testing.assert_array_equal(made.layers[name], value, err_msg=name)


def test_a_stack_that_is_too_small_is_found(tmp_path: Path) -> None:
    skip_without("cortex-m55")
    description = tmp_path / "small.yaml"
    description.write_text("based_on: cortex-m55\nname: small\ncpu: {stack_bytes: 128}\n")
    with pytest.raises(WrongAnswer, match="exit status"):
        tvm_pulp.compile("zoo:dscnn", soc=str(description)).run()


def test_no_network_card_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards come with one, whose ROM distributions package apart: QEMU ends where the card is there and it is not."""
    skip_without("aarch64")
    wrapper = tmp_path / "qemu-system-aarch64"
    wrapper.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--version* | *"-nic none"*) exec {shutil.which(wrapper.name)} "$@" ;; esac\n'
        'echo "failed to find romfile" >&2\nexit 1\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert tvm_pulp.compile("zoo:dscnn", soc="aarch64").run().report["instructions"] > 0


def test_the_emulator_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = tvm_pulp.compile("zoo:dscnn", soc="cortex-m55")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(UserError, match=r"--device qemu needs qemu-system-arm on PATH: install QEMU 7\.2"):
        app.run()


def test_what_a_description_names_must_be_a_board() -> None:
    with pytest.raises(UserError, match="names 'aarch64 toaster max' for qemu: give system, machine and CPU"):
        Emulated.of("aarch64 toaster max")
