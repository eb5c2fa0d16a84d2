"""Cycles of cores in tiles against the table of the platform."""

import pytest

from tests.sim.assembler import repeat
from tests.sim.pool.guest import measure, run_guest

LOADED = ("t0", "t1", "t2", "t3", "t4", "t5", "a4", "a5", "a6")
# A word of the interleaved region in a tile: tiles follow each other every 64 bytes.
INTERLEAVED = 0x40000


def load_distance(tile: int, core: int = 0) -> int:
    """Cycles from a load of a word in a tile to the first instruction that can use it."""
    load = "  lw t3, 0(a2)\n  addi t3, t3, 1\n"
    return measure(load, f"  li a2, {INTERLEAVED + 64 * tile}\n", core) - 1


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "core, tile, distance", [(0, 0, 2), (0, 1, 4), (0, 15, 4), (0, 16, 6), (0, 63, 6), (255, 63, 2)]
)
def test_a_load_takes_longer_the_further_it_goes(core: int, tile: int, distance: int) -> None:
    assert load_distance(tile, core) == distance


def test_the_mean_latency_of_all_tiles_is_four_and_a_half_cycles() -> None:
    loads = "".join(f"  li a2, {INTERLEAVED + 64 * tile}\n  lw t3, 0(a2)\n  addi t3, t3, 1\n" for tile in range(64))
    # The first use of the counter and the address take a cycle each; answers come a cycle before they can be used.
    cycles = measure(loads, settings={"icache.ideal": True})
    instructions = loads.count("\n") + sum((INTERLEAVED + 64 * t) % 4096 != 0 for t in range(64))
    assert (cycles - instructions) / 64 == pytest.approx((1 * 1 + 15 * 3 + 48 * 5) / 64)


def test_the_own_part_of_the_sequential_region_is_near() -> None:
    use = "  lw t3, 0(a2)\n  addi t3, t3, 1\n"
    # Tile 1 has the bytes from 4 KiB to 8 KiB, all of them one cycle away for cores 4 to 7.
    for offset in (0x1000, 0x1040, 0x1FFC):
        assert measure(use, f"  li a2, {offset}\n", core=5) == 3
    assert measure(use, "  li a2, 0xffc\n", core=5) == 5


CASES = {
    "alu": (repeat("addi t3, t3, 1", 16), 16),
    "taken branch": ("  beqz x0, 2f\n  nop\n2:\n  addi t3, t3, 1\n", 2),
    "one chain of mac": (repeat(".insn r 0x33, 0, 0x21, t3, a3, a3", 8) + "\n  mv t3, t3\n", 8 * 3 + 1),
    "three chains of mac": (
        "\n".join(f".insn r 0x33, 0, 0x21, {r}, a3, a3" for r in ("t3", "t4", "t5") * 8) + "\n  mv t5, t5\n",
        24 + 2 + 1,
    ),
    "mul and use": ("  mul t3, a3, a3\n  addi t3, t3, 1\n", 4),
    "eight loads under way": ("".join(f"  lw {r}, {4 * i}(a2)\n" for i, r in enumerate(LOADED[:8])), 8),
    "dot product by bytes": (
        "\n".join(f".insn r 0x57, 1, 0x5c, {r}, a3, a3" for r in ("t3", "t4", "t5") * 4),
        12,
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CASES)
def test_cycles(name: str) -> None:
    code, cycles = CASES[name]
    assert measure(code, "  li a2, 0x40400\n  li a3, 7\n") == cycles


def test_a_ninth_load_waits_for_an_answer() -> None:
    loads = "".join(f"  lw {r}, {4 * i}(a2)\n" for i, r in enumerate(LOADED))
    settings = {"tiles.cluster_latency": 15}
    # The first answer can be used 16 cycles after it was asked for, and then the ninth is asked for.
    assert measure(loads, "  li a2, 0x40400\n", settings=settings) == 17


def test_atomics_of_all_cores_to_one_word_are_served_one_after_the_other() -> None:
    text = "main:\n  li a2, FREE\n  li a3, 1\n  begin\n  amoadd.w t3, a3, (a2)\n  addi t3, t3, 1\n  elapsed\n  keep\n"
    text += "  bnez s1, 9f\n  li t1, 2000\n8:\n  addi t1, t1, -1\n  bnez t1, 8b\n9:\n  ret\n"
    _, cycles, machine = run_guest(text, settings={"icache.ideal": True})
    assert int.from_bytes(machine.read(0x40000, 4), "little") == 256
    assert max(cycles) >= 256
    assert len(set(cycles)) > 200


def test_cores_of_a_tile_share_its_way_to_another_group() -> None:
    # Eight loads of each of four cores through one port: no less than 32 cycles; of one core alone 8.
    body = "  li a2, 0x40400\n  slli t0, s1, 5\n  add a2, a2, t0\n  begin\n"
    body += (
        "".join(f"  lw x{r}, {4 * (r - 12)}(a2)\n" for r in range(12, 20)).replace("x12", "x20") + "  elapsed\n  keep\n"
    )
    text = f"main:\n  li t0, 4\n  bge s1, t0, 9f\n{body}9:\n  li t1, 300\n8:\n  addi t1, t1, -1\n  bnez t1, 8b\n  ret\n"
    _, cycles, _ = run_guest(text, settings={"icache.ideal": True})
    assert max(cycles[:4]) >= 28
