"""SoCs that differ in time only."""

import pytest

from tvm_pulp import soc as socs
from tvm_pulp.soc.same_timing import differs_in_time_only, timing_settings


def test_settings_are_what_differs() -> None:
    plain, banks = socs.load("siracusa-gvsoc"), socs.load("siracusa-gvsoc-banks")
    assert timing_settings(plain, banks) == {"memory.l1.conflicts": True, "timing.ordering_slack": 0}
    assert timing_settings(plain, plain) == {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("siracusa-gvsoc", "siracusa-gvsoc-banks", True),
        ("rv32-mcu-pipeline", "rv32-mcu", True),
        ("siracusa", "siracusa-gvsoc", False),  # its engine is told something else
        ("siracusa-gvsoc", "siracusa-gvsoc-ita", False),
        ("rv32-mcu-ita", "rv32-mcu-neureka", False),
    ],
)
def test_machines_that_differ_in_time_only(one: str, other: str, same: bool) -> None:
    assert differs_in_time_only(socs.load(one), socs.load(other)) is same
    assert differs_in_time_only(socs.load(other), socs.load(one)) is same
