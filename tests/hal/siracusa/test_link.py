"""The linker script: addresses, sizes, and what it keeps in which memory."""

import re

import pytest

from tvm_pulp import soc
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.soc.platform import Platform
from tvm_pulp.toolchain import RiscvToolchain, ToolchainError

from .program import C_RUNTIME, TOOLCHAINS, Program, Tensor

PLACES = """
uint32_t in_l1[5] TVM_PULP_IN_L1, of_a_driver[4] TVM_PULP_DRIVER_IN_L1;
uint8_t in_l2[100] TVM_PULP_IN_L2;
uint8_t zeroed[64], initialised[3] = {1, 2, 3};
volatile uint32_t two = 2; /* an index that the compiler does not know keeps the arrays */
extern const uint8_t in_sram[64], in_mram[64], in_rodata[4];
const uint8_t in_sram[64] TVM_PULP_IN_WEIGHT_SRAM = {0, 0, 1};
const uint8_t in_mram[64] TVM_PULP_IN_WEIGHT_MRAM = {0, 0, 2};
const uint8_t in_rodata[4] = {9, 8, 7, 6};
/* Names that a compiler turns into section names: they must not be taken for ours. */
uint32_t l1[4], l2[4], marks[4];
uint32_t facts[9] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  in_l1[0] = of_a_driver[0] = l1[0] = l2[0] = marks[0] = in_l2[0] = 1;
  facts[0] = (uint32_t)(uintptr_t)tvm_pulp_l1_arena;
  facts[1] = (uint32_t)(uintptr_t)tvm_pulp_l1_arena_bytes;
  facts[2] = TVM_PULP_L1_ARENA_BYTES;
  facts[3] = TVM_PULP_WEIGHT_OFFSET(in_sram);
  facts[4] = TVM_PULP_WEIGHT_OFFSET(in_mram);
  facts[5] = in_sram[two];
  facts[6] = in_mram[two];
  facts[7] = in_rodata[two] + initialised[two] + zeroed[two];
}
"""
MEMORIES = {
    "in_l1": "l1", "of_a_driver": "l1", "in_l2": "l2", "zeroed": "l2", "initialised": "l2", "in_sram": "sram",
    "in_mram": "mram", "in_rodata": "l2", "l1": "l2", "l2": "l2", "marks": "l2", "tvm_pulp_marks": "l1",
    "tvm_pulp_network": "l2",
}  # fmt: skip


def memory_of(address: int) -> str | None:
    ranges = {"l1": (0x10000000, 0x40000), "mram": (0x10400000, 0x400000), "sram": (0x10800000, 0x400000)}
    ranges["l2"] = (0x1C010000, 0x1F0000)
    return next((name for name, (base, size) in ranges.items() if base <= address < base + size), None)


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize("profile", [True, False])
def test_everything_lies_where_it_was_asked_to(toolchain: RiscvToolchain, profile: bool) -> None:
    program = Program(PLACES, outputs=(Tensor("facts", (8,), "uint32"),))
    device = program.device(toolchain=toolchain, profile=profile)
    elf = read_elf(device.elf)
    assert {name: memory_of(elf.symbols[name]) for name in MEMORIES} == MEMORIES
    # Above the last stack, where start code leaves 16 bytes: the arena loses nothing.
    assert elf.symbols["of_a_driver"] == elf.symbols["tvm_pulp_marks"] - 16
    cleared = range(elf.symbols["tvm_pulp_bss_begin"], elf.symbols["tvm_pulp_bss_end"])
    assert elf.symbols["zeroed"] in cleared and elf.symbols["in_l2"] not in cleared
    facts = device.run([]).outputs[0].tolist()
    # 16 KiB of stacks and 1 KiB of marks come first; 20 bytes of in_l1 round up to a round of banks.
    assert facts == [0x10004440, 0x40000 - 0x4440, 0x40000 - 0x4400, 0x400000, 0, 1, 2, 10]


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_the_constant_arena_size_is_the_linkers(toolchain: RiscvToolchain) -> None:
    text = """
    uint32_t sizes[2] TVM_PULP_IN_L2;
    void tvm_pulp_network(void) {
      sizes[0] = (uint32_t)(uintptr_t)tvm_pulp_l1_arena_bytes;
      sizes[1] = TVM_PULP_L1_ARENA_BYTES;
    }
    """
    for profile, marks, expected in ((True, 256, 244736), (False, 256, 244736), (True, 17, 245632), (True, 1, 245696)):
        outputs = (Tensor("sizes", (2,), "uint32"),)
        program = Program(text, outputs=outputs, cores=1, defines=(f"TVM_PULP_MARKS={marks}",))
        sizes = program.run(toolchain=toolchain, profile=profile).outputs[0]
        assert sizes.tolist() == [expected, expected]


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_what_steps_run_lies_together(toolchain: RiscvToolchain) -> None:
    text = """
    volatile uint32_t word;
    #define FUNCTION __attribute__((noinline)) void
    FUNCTION tvm_pulp_kernel_first(void); FUNCTION seldom(void); FUNCTION beside(void); FUNCTION tvmgen_net_add(void);
    FUNCTION tvmgen_net_run(void);
    FUNCTION tvm_pulp_kernel_first(void) { word = 1; }
    FUNCTION seldom(void) { word = 2; }
    __attribute__((section(".text..close"))) FUNCTION beside(void) { word = 3; }
    FUNCTION tvmgen_net_add(void) { word = 4; }
    FUNCTION tvmgen_net_run(void) { word = 5; }
    void tvm_pulp_network(void) { tvm_pulp_kernel_first(); seldom(); beside(); tvmgen_net_add(); tvmgen_net_run(); }
    """
    symbols = read_elf(Program(text).device(toolchain=toolchain).elf).symbols
    near = [symbols[name] for name in ("tvm_pulp_kernel_first", "beside", "tvmgen_net_add")]
    others = [symbols[name] for name in ("seldom", "tvm_pulp_network", "tvm_pulp_run_inferences")]
    assert max(near) < min(others)
    # What runs once for an inference is not among what each of its layers runs.
    assert symbols["tvmgen_net_run"] < min(near)


def segments_outside(elf: Elf) -> list[str]:
    return [
        f"0x{part.address:08x}+{part.size}"
        for part in elf.segments
        if memory_of(part.address) is None or memory_of(part.address) != memory_of(part.address + part.size - 1)
    ]


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_segments_stay_inside_the_memories(toolchain: RiscvToolchain) -> None:
    elf = read_elf(Program(PLACES, outputs=(Tensor("facts", (8,), "uint32"),)).device(toolchain=toolchain).elf)
    assert segments_outside(elf) == []
    assert elf.entry == 0x1C010000


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize(
    ("declaration", "use"),
    [
        ("uint8_t big[1984 * 1024] TVM_PULP_IN_L2;", "big[0] = 1;"),
        ("uint8_t big[240 * 1024] TVM_PULP_IN_L1;", "big[0] = 1;"),
        ("extern const uint8_t big[4 * 1024 * 1024 + 1]; const uint8_t big[4 * 1024 * 1024 + 1] TVM_PULP_IN_WEIGHT_SRAM"
         " = {1};", "if (big[tvm_pulp_core_id()]) TVM_PULP_REGISTER(0x10000000) = 1;"),
    ],
)  # fmt: skip
def test_too_much_data_does_not_link(declaration: str, use: str, toolchain: RiscvToolchain) -> None:
    with pytest.raises(ToolchainError, match=r"will not fit in region|overflowed by"):
        Program(f"{declaration}\nvoid tvm_pulp_network(void) {{ {use} }}").device(toolchain=toolchain)


def test_the_headers_defaults_are_those_of_the_soc() -> None:
    texts = [path.read_text() for path in (C_RUNTIME / "hal/siracusa/include/tvm_pulp").glob("*.h")]
    stated = dict(define.split("=") for define in Platform(soc.load("siracusa")).defines())
    for name in ("TVM_PULP_HARDWARE_CORES", "TVM_PULP_STACK_BYTES", "TVM_PULP_L1_BYTES", "TVM_PULP_WEIGHT_BASE"):
        assert any(re.search(rf"#define {name} {stated[name]}\b", text) for text in texts), name


def test_the_script_follows_the_description() -> None:
    changed = soc.load("siracusa").with_settings(
        {"cluster.cores": 4, "memory.l1.size": 0x20000, "memory.l2.base": 0x1D000000, "software.stack_bytes": 1024}
    )
    script = Platform(changed).linker_script()
    assert not re.search(r"@[A-Z_]+@", script) and ". += 4 * 1024 - 16;" in script
    for name, base, size in (
        ("L1", 0x10000000, 0x20000),
        ("WEIGHT_MRAM", 0x10400000, 0x400000),
        ("WEIGHT_SRAM", 0x10800000, 0x400000),
        ("L2_PRIVATE", 0x1D000000, 0x10000),
        ("L2", 0x1D010000, 0x1F0000),
    ):
        assert re.search(rf"{name} \(\w+\) +: ORIGIN = {base:#010x}, LENGTH = {size:#x}\n", script), name
