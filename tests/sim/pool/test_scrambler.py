"""Where words of the sequential region lie: seen by who is near them."""

from tests.sim.pool.guest import measure
from tvm_pulp import soc

# The sequential region of the RTL's default configuration: 2 KiB of a tile.
DEFAULT = {"tiles.sequential_bytes": 512}


def test_a_word_of_the_second_line_of_a_tile_stays_in_it() -> None:
    # 0x0840 of the sequential region is row 1, bank 0 of tile 1, the bank of 0x41040 too.
    both = "  lw t3, 0(a2)\n  lw t4, 0(a3)\n  addi t4, t4, 1\n"
    use = measure(both, "  li a2, 0x840\n  li a3, 0x41040\n", core=4, settings=DEFAULT)
    other = measure(both, "  li a2, 0x840\n  li a3, 0x41044\n", core=4, settings=DEFAULT)
    assert use == other == 4  # one after the other, each a cycle after it is asked for


def test_every_tile_has_as_much_of_the_sequential_region() -> None:
    machine = soc.load("mempool").with_settings(DEFAULT)
    tile_bytes = machine.tiles.cores * machine.tiles.sequential_bytes
    use = "  lw t3, 0(a2)\n  addi t3, t3, 1\n"
    for core in (0, 3, 100, 255):
        first = core // 4 * tile_bytes
        assert measure(use, f"  li a2, {first}\n", core=core, settings=DEFAULT) == 3
        assert measure(use, f"  li a2, {first + tile_bytes - 4}\n", core=core, settings=DEFAULT) == 3
