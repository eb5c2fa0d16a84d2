"""Sizes of a program by what its sections are."""

from pathlib import Path

from tvm_pulp.toolchain import build_riscv_elf
from tvm_pulp.tvmc.mlonmcu.build_program import program_sizes

SOURCE = """
const int table[16] = {1};
int counter[8] = {2};
int cleared[32];
__attribute__((section(".weights"))) const int weights[64] = {3};
void _start(void) { for (int i = 0; i < 32; i++) cleared[i] = table[i & 15] + counter[i & 7] + weights[i]; }
"""
SCRIPT = """ENTRY(_start)
SECTIONS {
  . = 0x1000;
  .text : { *(.text*) }
  .rodata : { *(.rodata* .srodata*) }
  .data : { *(.data* .sdata*) }
  .sram : { *(.weights) }
  .l2 (NOLOAD) : { *(.bss* .sbss*) }
  /DISCARD/ : { *(.comment) *(.riscv.attributes) }
}
"""


def test_sections_count_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(SOURCE)
    (tmp_path / "link.ld").write_text(SCRIPT)
    elf = build_riscv_elf([tmp_path / "program.c"], [], tmp_path / "link.ld", march="rv32imc", extra_flags=["-O1"])
    sizes = program_sizes(elf, outside=7, arena=1000)
    assert sizes["ROM code"] > 16
    kinds = ("ROM read-only", "RAM data", "RAM zero-init data", "ROM misc")
    read_only, data, zeroed, outside = (sizes[kind] for kind in kinds)
    assert (read_only, data, zeroed, outside) == (16 * 4 + 64 * 4, 8 * 4, 32 * 4 + 1000, 7)
    assert sizes["Total ROM"] == read_only + sizes["ROM code"] + outside and sizes["Total RAM"] == data + zeroed
