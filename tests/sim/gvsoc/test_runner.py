"""Runner `gvsoc`: an image of one file goes in, text comes out; whatever goes wrong there is one sentence."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.sim.gvsoc.stand_in import add_sources, install
from tvm_pulp.api import App
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.gvsoc.installation import GvsocInstallation


@pytest.fixture(scope="module")
def app() -> App:
    return tvm_pulp.compile("zoo:dscnn", target="uma-neureka", soc="siracusa-gvsoc")


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GVSOC_HOME", raising=False)
    folders = os.environ["PATH"].split(os.pathsep)
    monkeypatch.setenv("PATH", os.pathsep.join(f for f in folders if not (Path(f) / "gvsoc").exists()))


def test_outputs_and_cycles_come_back(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GVSOC_HOME", str(install(tmp_path / "home")))
    here, there = app.run(), app.run(device="gvsoc")
    for name, expected in here.outputs.items():
        np.testing.assert_array_equal(there.outputs[name], expected)
    # The same program on the same simulator; only where the controller prints differs.
    assert there.report["cycles"] == here.report["cycles"] and there.report["cold_cycles"] == here.report["cold_cycles"]
    # What lies before the first mark and behind the last is counted to one of the layers at the ends.
    layers = [[layer["cycles"] for layer in report["layers"]] for report in (there.report, here.report)]
    assert layers[0][1:-1] == layers[1][1:-1] and sum(layers[0]) == sum(layers[1]) == here.report["cycles"]
    assert there.report["device"] == "gvsoc" and here.report["device"] == "iss"
    # What GVSoC does not tell is null.
    for unknown in ("instructions", "dma", "energy_uj", "device_revision"):
        assert there.report[unknown] is None, unknown


def test_the_target_and_its_folder_are_passed_on(app: App, tmp_path: Path) -> None:
    home = install(tmp_path / "home", "print(sorted(options.items())); sys.exit(1)")
    options = {"home": str(home), "target": "mine", "target_dir": str(tmp_path)}
    with pytest.raises(UserError, match="'target', 'mine'") as refused:
        app.run(device="gvsoc", device_options=options)
    assert f"('target-dir', '{tmp_path}')" in str(refused.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('Invalid access'); sys.exit(255)", ["status 255", "end marker", "Invalid access"]),
        ("print('data x 00000000 00')\nsys.exit(0)", ["status 0", "end marker"]),
        ("print('data x 00000020 00\\nend')", ["lines of 'x' are missing"]),
    ],
)
def test_a_run_that_breaks_off_is_one_sentence(app: App, tmp_path: Path, body: str, words: list[str]) -> None:
    home = install(tmp_path / "home", body)
    with pytest.raises(UserError) as refused:
        app.run(device="gvsoc", device_options={"home": str(home)})
    for word in words:
        assert word in str(refused.value)
    assert "\n" not in str(refused.value)


def test_float_numbers_may_be_the_reason(app: App, tmp_path: Path) -> None:
    """GVSoC's Siracusa of early 2026 keeps them in the registers of integers, and programs crash there."""
    home = install(tmp_path / "home", "sys.exit(1)")
    facts = json.loads(app.files["metadata.json"])
    facts["tvm_pulp"]["march"] = "rv32imfc"
    with_float = App(app.files | {"metadata.json": json.dumps(facts).encode()})
    with pytest.raises(UserError, match=r"float numbers.*--device-option target"):
        with_float.run(device="gvsoc", device_options={"home": str(home)})


def test_an_exit_code_of_the_program_is_a_fault(app: App, tmp_path: Path) -> None:
    home = install(tmp_path / "home", "sys.exit(3)")
    with pytest.raises(GuestFault, match="stack overflowed"):
        app.run(device="gvsoc", device_options={"home": str(home)})


def test_a_run_that_hangs_is_ended(app: App, tmp_path: Path) -> None:
    home = install(tmp_path / "home", "print('waiting', flush=True); time.sleep(600)")
    with pytest.raises(UserError, match=r"did not end within 1 s; its last lines: waiting: .*timeout_s"):
        app.run(device="gvsoc", device_options={"home": str(home), "timeout_s": "1"})


def test_a_missing_installation_is_one_sentence(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"option home is not set; \$GVSOC_HOME is not set; PATH has no gvsoc"):
        App(app.files).run(device="gvsoc")  # a runner that was built once stays
    monkeypatch.setenv("GVSOC_HOME", str(tmp_path))
    with pytest.raises(UserError, match=f"GVSOC_HOME is {tmp_path}, where neither install/bin/gvsoc nor bin/gvsoc is"):
        App(app.files).run(device="gvsoc")  # a runner that was built once stays


def test_an_installation_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = install(tmp_path / "home")
    monkeypatch.setenv("PATH", f"{home / 'install' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert GvsocInstallation.find({}, "--device gvsoc").home == home.resolve()


def test_options_are_checked(app: App, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="knows no such option: it takes home, target, plugin, target_dir, timeout_s"):
        app.run(device="gvsoc", device_options={"place": "x"})
    with pytest.raises(UserError, match="knows no such option: it takes none"):
        app.run(device="iss", device_options={"home": "x"})
    home = str(install(tmp_path / "home"))
    for wrong in ("0", "soon", "nan", "-1"):
        with pytest.raises(UserError, match="timeout_s="):
            app.run(device="gvsoc", device_options={"home": home, "timeout_s": wrong})


def test_constants_in_l3_need_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its targets have a HyperRAM that takes contents; no other has."""
    monkeypatch.setenv("GVSOC_HOME", str(install(tmp_path / "home")))
    app = tvm_pulp.compile("zoo:autoencoder", soc="siracusa-gvsoc", l2=128 << 10)
    plugin = tmp_path / "plugin"
    options = {"plugin": str(plugin)}
    with pytest.raises(UserError, match=r"constants in L3.*tvmc plugin gvsoc"):
        app.run(device="gvsoc")
    for name in ("peripheral.so", "hyperram.so"):
        with pytest.raises(UserError, match=f"lib/tvm_pulp/{name} is not there"):
            app.run(device="gvsoc", device_options=options)
        (plugin / "lib" / "tvm_pulp").mkdir(parents=True, exist_ok=True)
        (plugin / "lib" / "tvm_pulp" / name).touch()
    (plugin / "siracusa_tvm_pulp.py").touch()
    (plugin / "engines.json").write_text("[]")
    with pytest.raises(UserError, match="constants in L3"):
        app.run(device="gvsoc", device_options={**options, "target": "siracusa"})
    here, there = app.run(), app.run(device="gvsoc", device_options=options)
    for name, expected in here.outputs.items():
        np.testing.assert_array_equal(there.outputs[name], expected)
    assert there.report["cycles"] == here.report["cycles"]


def test_other_platforms_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GVSOC_HOME", str(install(tmp_path / "home")))
    with pytest.raises(UserError, match="not for 'host': recompile with --soc=siracusa-gvsoc"):
        tvm_pulp.compile("zoo:dscnn").run(device="gvsoc")


def test_float_numbers_need_registers(app: App, tmp_path: Path) -> None:
    """Refused at once where sources tell that there are none, with the way out for float ends."""
    home = install(tmp_path / "home")
    add_sources(home, "", "pulp.cpu.iss.pulp_cores")
    metadata = json.loads(app.files["metadata.json"])
    facts = metadata["tvm_pulp"]
    for dtype, way_out in (("int8", "name another with"), ("float32", "recompile with --io int8, so that its ends")):
        facts["march"], facts["outputs"][0]["dtype"] = "rv32imfc", dtype
        network = App({**app.files, "metadata.json": json.dumps(metadata).encode()})
        with pytest.raises(UserError, match=rf"no registers \(sources before June 2026\): {way_out}"):
            network.runner("gvsoc", None, {"home": str(home)})


def test_a_package_that_the_launcher_lacks_is_named(app: App, tmp_path: Path) -> None:
    home = install(tmp_path / "home", "import nobodys_package")
    with pytest.raises(UserError, match=r"needs the Python package 'nobodys_package'.*home/\.venv that has it"):
        app.run(device="gvsoc", device_options={"home": str(home)})


def test_packages_are_found_in_the_environment_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher's Python is the first that has its packages: the installation's, that of PATH, the active one."""
    found = GvsocInstallation(install(tmp_path / "home"), tmp_path / "home" / "install" / "bin" / "gvsoc")
    places = {name: tmp_path / name / "bin" for name in ("home/.venv", "system", "active")}
    monkeypatch.setenv("PATH", os.pathsep.join([str(places["active"]), str(places["system"])]))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    for name in ("active", "system", "home/.venv"):
        places[name].mkdir(parents=True)
        (places[name] / "python3").write_text("#!/bin/sh\nexit 0\n")
        (places[name] / "python3").chmod(0o755)
        assert found.environment()["PATH"].split(os.pathsep)[0] == str(places[name]), name


def test_an_engine_that_gvsoc_has_not_needs_a_plugin(tmp_path: Path) -> None:
    home, soc = install(tmp_path / "home"), "siracusa-gvsoc-ita"
    made = tvm_pulp.compile("zoo:autoencoder", target="c", soc=soc)
    metadata = json.loads(made.files["metadata.json"])
    metadata["tvm_pulp"]["layers"][0]["engine"] = "ita"
    network = App({**made.files, "metadata.json": json.dumps(metadata).encode()})
    with pytest.raises(UserError, match=f"runs on ita, which GVSoC does not have: .*tvmc plugin gvsoc --soc {soc} -o"):
        network.runner("gvsoc", None, {"home": str(home)})
