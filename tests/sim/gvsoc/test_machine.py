"""The embedded simulator is told what machine a GVSoC is: the revision of its engine, its target."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.sim.gvsoc.stand_in import RUN_HERE, add_sources, install
from tests.tvmc.command_line import tvmc

SINCE_APRIL = "this->matrixvec_latency += 10;"
EARLY = RUN_HERE.replace(
    'soc.load("siracusa-gvsoc")',
    'soc.load("siracusa-gvsoc").with_settings({"engines.neureka.parameters.timing_revision": 202603})',
)


# Revisions differ in the 1x1 mode.
ROWS = {"neureka": {"single_rows": "1x1"}}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    for soc in ("siracusa", "siracusa-gvsoc"):
        tvm_pulp.compile("zoo:autoencoder", target="uma-neureka", soc=soc, engine_options=ROWS).save(
            folder / f"{soc}.tar"
        )
    return folder


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("soc", "body", "engine", "told"),
    [
        ("siracusa-gvsoc", RUN_HERE, SINCE_APRIL, None),
        ("siracusa-gvsoc", EARLY, "", "iss is told engines.neureka.parameters.timing_revision=202603"),
        ("siracusa", RUN_HERE, SINCE_APRIL, "timing.mul=2"),
    ],
)
def test_the_same_machine_on_both_sides(
    archives: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    soc: str,
    body: str,
    engine: str,
    told: str | None,
) -> None:
    home = install(tmp_path / "home", body)
    # Both places of headers, of which newer sources have the second.
    add_sources(home, engine, headers="engine/engine/include" if engine else "core/engine/include")
    arguments = ("--devices", "iss,gvsoc", "--tolerance", "0", "--device-option", f"home={home}")
    baseline = tmp_path / "baseline.json"
    done = tvmc(capsys, "crosscheck", archives / f"{soc}.tar", *arguments, "--record", baseline, "--inferences", "3")
    assert done.status == 0 and "outputs equal, cycles +0.00 %" in done.out, done.err
    assert told in done.err if told else "another machine" not in done.err
    revision = "202604" if engine else "202603"
    assert f"its engine's cycles of {revision}" in done.out
    # A baseline remembers what machine it was, and how many inferences.
    done = tvmc(
        capsys, "crosscheck", archives / f"{soc}.tar", "--devices", "iss", "--tolerance", "0", "--baseline", baseline
    )
    assert done.status == 0 and "3 inferences on iss" in done.err
    more = ("--devices", "iss", "--baseline", baseline, "--inferences", "4")
    done = tvmc(capsys, "crosscheck", archives / f"{soc}.tar", *more)
    assert done.status == 2 and "--inferences 4: 3 are recorded" in done.err


def test_a_wrong_revision_is_seen(archives: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without sources nobody knows: iss counts as the preset says, and the cycles tell."""
    home = install(tmp_path / "home", EARLY)
    options = ("--devices", "iss,gvsoc", "--device-option", f"home={home}")
    done = tvmc(capsys, "crosscheck", archives / "siracusa-gvsoc.tar", *options)
    assert done.status == 1 and "revision unknown" in done.out and "-2." in done.err
