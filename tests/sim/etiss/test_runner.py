"""Runner `etiss`: an ini file and one image go in, text comes out; whatever goes wrong there is one sentence."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.api import App
from tvm_pulp.errors import GuestFault, UserError

# A processor that runs the program of its ini file on our own simulator.
RUN_HERE = """
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine
assert settings["memseg_origin_00"] == "0x1000000" and settings["enable_semihosting"] == "true"
machine = Machine(soc.load("rv32-mcu"))
machine.load_elf(pathlib.Path(settings["elf_file"]).read_bytes())
print(machine.run().stdout)
"""


def install(home: Path, body: str = RUN_HERE) -> Path:
    """A home folder with a processor whose settings are in `settings`."""
    processor = home / "bin" / "bare_etiss_processor"
    processor.parent.mkdir(parents=True)
    program = home / "processor.py"
    parse = "lines = pathlib.Path(sys.argv[1][2:]).read_text().splitlines()\n"
    parse += "settings = {a.split('.')[-1]: b for a, e, b in (line.partition('=') for line in lines) if e}\n"
    program.write_text(f"import pathlib, sys, time\n{parse}{body}", encoding="utf-8")
    root = Path(__file__).resolve().parents[3]
    processor.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} {program} "$@"\n', encoding="utf-8")
    processor.chmod(0o755)
    return home


@pytest.fixture(scope="module")
def app() -> App:
    return tvm_pulp.compile("zoo:autoencoder", soc="rv32-mcu")


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ETISS_HOME", raising=False)
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [folder for folder in folders if not (Path(folder) / "bare_etiss_processor").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(kept))


def test_outputs_and_cycles_come_back(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETISS_HOME", str(install(tmp_path / "home")))
    here, there = app.run(), app.run(device="etiss")
    for name, expected in here.outputs.items():
        np.testing.assert_array_equal(there.outputs[name], expected)
    assert there.report["cycles"] == here.report["cycles"] and there.report["instructions"] is None
    # What lies before the first mark and behind the last is counted to one of the layers at the ends.
    layers = [[layer["cycles"] for layer in report["layers"]] for report in (there.report, here.report)]
    assert layers[0][1:-1] == layers[1][1:-1] and sum(layers[0]) == sum(layers[1]) == here.report["cycles"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('no such CPU'); sys.exit(2)", ["status 2", "end marker", "no such CPU"]),
        ("time.sleep(600)", ["did not end within 2 s", "timeout_s"]),
    ],
)
def test_a_run_that_breaks_off_is_one_sentence(app: App, tmp_path: Path, body: str, words: list[str]) -> None:
    home = install(tmp_path / "home", body)
    with pytest.raises(UserError) as refused:
        app.run(device="etiss", device_options={"home": str(home), "timeout_s": "2"})
    assert all(word in str(refused.value) for word in words) and "\n" not in str(refused.value)


def test_an_exit_code_of_the_program_is_a_fault(app: App, tmp_path: Path) -> None:
    home = install(tmp_path / "home", "print('exit 3')")
    with pytest.raises(GuestFault, match="stack overflowed"):
        app.run(device="etiss", device_options={"home": str(home)})


def test_a_missing_installation_is_one_sentence(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"option home is not set; \$ETISS_HOME is not set; PATH has no bare_etiss_"):
        App(app.files).run(device="etiss")
    monkeypatch.setenv("ETISS_HOME", str(tmp_path))
    with pytest.raises(UserError, match=f"ETISS_HOME is {tmp_path}, where bin/bare_etiss_processor, "):
        App(app.files).run(device="etiss")


def test_options_are_checked(app: App, tmp_path: Path) -> None:
    home = str(install(tmp_path / "home"))
    for options, words in (
        ({"blocking": "yes"}, "choose true or false"),
        ({"blocking": "true"}, "no effect without plugin"),
        ({"plugin": str(tmp_path)}, "engines.json is not there"),
        ({"speed": "1"}, "it takes home, plugin, blocking, timeout_s"),
    ):
        with pytest.raises(UserError, match=words):
            app.run(device="etiss", device_options={"home": home, **options})


def test_engines_and_other_platforms_need_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETISS_HOME", str(install(tmp_path / "home")))
    with pytest.raises(UserError, match="not for 'host': recompile with --soc=rv32-mcu"):
        tvm_pulp.compile("zoo:autoencoder").run(device="etiss")
