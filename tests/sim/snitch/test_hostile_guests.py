"""Guests that would hang the host or fill its memory end with a sentence."""

import pytest

from tests.sim.snitch.guest import machine_for
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss import Machine

TRANSFER = """
main:
  li t0, 8
  bne a0, t0, 1f
  li t0, L1
  dmsrc t0, x0
  li t0, {target}
  dmdst t0, x0
  dmstr x0, {stride}
  li t0, -1
  dmrep t0
  li t0, 64
  dmcpyi t1, t0, 2
2: dmstati t2, 0
  bne t1, t2, 2b
1: ret
"""


@pytest.mark.parametrize(
    ("target", "stride", "match"),
    [("L1 + 0x800", "x0", "exceeded its limit"), ("L1 + 0x800", "t0", "leaves the memories")],
    ids=["in place", "until memory ends"],
)
def test_a_transfer_of_four_billion_rows(target: str, stride: str, match: str) -> None:
    with pytest.raises(GuestFault, match=match):
        machine_for(TRANSFER.format(target=target, stride=stride)).run(100_000)


def test_a_program_that_never_stops_printing() -> None:
    text = """
main:
  bnez a0, 2f
  la t0, tohost
  la t1, request
1: sw t1, 0(t0)
  j 1b
2: ret
.data
.align 6
request: .4byte 64, 0, 1, 0, 0x80000000, 0, 0x10000, 0
"""
    with pytest.raises(GuestFault, match="printed more than 64 MiB"):
        machine_for(text).run(1_000_000)


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("scoreboard.engine_store_delay", 100_000, "at most 64 are under way"),
        ("memory.l1.banks", 4, "at least 32 banks"),
    ],
)
def test_a_cluster_that_cannot_be(setting: str, value: int, match: str) -> None:
    with pytest.raises(UserError, match=match):
        Machine(soc.load("snitch-ita").with_settings({setting: value}))
