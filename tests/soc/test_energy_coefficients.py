"""Energy coefficients: stated with their spread and source, or as plain numbers that nobody vouches for."""

from pathlib import Path

import pytest

from tvm_pulp import soc
from tvm_pulp.errors import UserError


def loaded(tmp_path: Path, energy: str) -> soc.Soc:
    path = tmp_path / "mine.yaml"
    path.write_text(f"based_on: siracusa\nname: mine\nenergy: {energy}\n", encoding="utf-8")
    return soc.load(path)


def test_a_plain_number_may_be_off_by_as_much_as_it_says(tmp_path: Path) -> None:
    energy = loaded(tmp_path, "{l1_byte: 0.5, engine_mac: {neureka: 0.2}}").energy
    assert energy.l1_byte is not None and (energy.l1_byte.pj, energy.l1_byte.spread) == (0.5, 1.0)
    assert energy.engine_mac["neureka"].spread == 1.0
    assert energy.l2_byte == soc.load("siracusa").energy.l2_byte


def test_a_part_of_a_coefficient_can_be_changed(tmp_path: Path) -> None:
    energy = loaded(tmp_path, "{l1_byte: {pj: 0.5}}").energy
    base = soc.load("siracusa").energy
    assert energy.l1_byte is not None and base.l1_byte is not None
    assert (energy.l1_byte.pj, energy.l1_byte.spread) == (0.5, base.l1_byte.spread)


def test_nothing_behind_a_coefficient_takes_it_away(tmp_path: Path) -> None:
    assert loaded(tmp_path, "{static_cycle: }").energy.static_cycle is None


@pytest.mark.parametrize(
    ("energy", "reason"),
    [
        ("{l1_byte: {pj: -1}}", r"energy\.l1_byte\.pj: input should be greater than or equal to 0, not -1"),
        ("{l1_byte: much}", r"energy\.l1_byte: .*'much'"),
        ("{l4_byte: 1}", r"energy\.l4_byte: no such key"),
    ],
)
def test_bad_coefficients_are_refused(tmp_path: Path, energy: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        loaded(tmp_path, energy)
