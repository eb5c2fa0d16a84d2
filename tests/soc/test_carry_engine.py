"""A SoC that cannot carry an engine says why, where networks are compiled for it and where plug-ins are made of it."""

from pathlib import Path

import pytest

from tests.tvmc.command_line import tvmc
from tvm_pulp import soc as socs
from tvm_pulp.soc.carry_engine import why_not_carried

NEUREKA = "engines.neureka."


def test_presets_carry_their_engines() -> None:
    for name in socs.names():
        soc = socs.load(name)
        assert {engine: why_not_carried(soc, engine) for engine in soc.engines} == dict.fromkeys(soc.engines), name


@pytest.mark.parametrize(
    ("preset", "settings", "reason"),
    [
        (
            "siracusa",
            {f"{NEUREKA}event_line": 0},
            "its cores sleep, and engines.neureka.event_line 0 is no event of eng",
        ),
        (
            "siracusa",
            {f"{NEUREKA}base": 0x70000000},
            "do not reach engines.neureka.base 0x70000000: choose 0x10201000 to",
        ),
        ("siracusa", {f"{NEUREKA}base": 0x1C010000}, "0x1c010000 lies in memory.l2: choose an address that is free"),
        ("siracusa-gvsoc-ita", {"engines.ita.base": 0x10201000}, "engines.ita.base 0x10201000 is that of neureka too"),
        ("rv32-mcu-ita", {"memory.l1.size": 0x200000}, "engines address 1 MiB of L1, and it has 2097152 bytes: choose"),
        ("snitch-ita", {"engines.ita.base": 0x10060000}, "choose 0x10040000 to 0x1004ffff"),
    ],
)
def test_what_is_wrong_is_one_sentence(preset: str, settings: dict[str, object], reason: str) -> None:
    soc = socs.load(preset).with_settings(settings)
    assert reason in str(why_not_carried(soc, "ita" if "ita" in soc.engines else "neureka"))


@pytest.mark.parametrize(
    ("text", "engine", "reason"),
    [
        ("based_on: siracusa\nengines: {neureka: {event_line: 8}}", "neureka", "choose one of 12, 13, 14, 15"),
        ("based_on: rv32-mcu-neureka\nengines: {neureka: {queue: 1}}", "neureka", "set it to 2"),
        (
            "based_on: rv32-mcu-ita\nengines: {ita: {queue: 2}}",
            "ita",
            "holds 4 jobs, not engines.ita.queue 2: set it to 4",
        ),
        ("simulated: false\nengines: {ita: {base: 0x70000000, event_line: 0, queue: 4}}", "ita", "it has no L1, where"),
    ],
)
def test_compile_and_plugin_refuse_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, engine: str, reason: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\n{text}\n")
    simulator = "gvsoc" if "siracusa" in text else "etiss"
    for arguments in (
        ("compile", "zoo:autoencoder", f"--target=uma-{engine}", f"--soc={path}", "-o", tmp_path / "net.tar"),
        ("plugin", simulator, f"--soc={path}", "-o", tmp_path / "plugin"),
    ):
        done = tvmc(capsys, *arguments)
        assert done.status == 2 and f"--soc mine cannot carry '{engine}'" in done.err and reason in done.err


def test_other_socs_that_have_the_engine_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tvmc(capsys, "compile", "zoo:autoencoder", "--target=uma-ita", "--soc=siracusa", "-o", tmp_path / "net.tar")
    assert done.status == 2 and "choose --soc itapool or --soc rv32-mcu-ita or --soc siracusa-gvsoc-ita or" in done.err
