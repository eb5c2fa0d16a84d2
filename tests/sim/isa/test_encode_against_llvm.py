"""The RV32IMFC encoders produce the same words as LLVM's assembler.

The differential tests hand the same image to both simulators, so a wrong encoder would only shift what is covered;
this test makes sure that every mnemonic really stands for its instruction.
"""

import importlib.util
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import rv32_encode as rv
from . import rvc_encode as rvc

Sample = tuple[str, int]
X = [f"x{number}" for number in range(32)]
F = [f"f{number}" for number in range(32)]
ROUNDING_NAMES = {value: name for name, value in rv.ROUNDING_MODES.items()}
SAMPLES_PER_MNEMONIC = 4


def integer_samples(pick: random.Random) -> Iterator[Sample]:
    rd, a, b = (pick.randrange(32) for _ in range(3))
    immediate = pick.choice((-2048, 2047, -1, pick.randrange(-2048, 2048)))
    offset = 2 * pick.choice((-2048, 2047, pick.randrange(-2048, 2048)))
    for name in rv.REGISTER_OPS:
        yield f"{name} {X[rd]}, {X[a]}, {X[b]}", rv.register_op(name, rd, a, b)
    for name in rv.IMMEDIATE_OPS:
        yield f"{name} {X[rd]}, {X[a]}, {immediate}", rv.immediate_op(name, rd, a, immediate)
    for name in rv.SHIFT_OPS:
        yield f"{name} {X[rd]}, {X[a]}, {b}", rv.shift_op(name, rd, a, b)
    for name in rv.LOADS:
        yield f"{name} {X[rd]}, {immediate}({X[a]})", rv.load(name, rd, a, immediate)
    for name in rv.STORES:
        yield f"{name} {X[b]}, {immediate}({X[a]})", rv.store(name, b, a, immediate)
    for name in rv.BRANCHES:
        yield f"{name} {X[a]}, {X[b]}, .{offset:+d}", rv.branch(name, a, b, offset)
    for name in rv.CSR_OPS:
        source = str(a) if name.endswith("i") else X[a]
        for csr, number in rv.CSRS.items():
            yield f"{name} {X[rd]}, {csr}, {source}", rv.csr_op(name, rd, number, a)
    far = 2 * pick.randrange(-(1 << 19), 1 << 19)
    yield f"jal {X[rd]}, .{far:+d}", rv.jal(rd, far)
    yield f"jalr {X[rd]}, {immediate}({X[a]})", rv.jalr(rd, a, immediate)
    upper = pick.randrange(1 << 20)
    yield f"lui {X[rd]}, {upper}", rv.lui(rd, upper)
    yield f"auipc {X[rd]}, {upper}", rv.auipc(rd, upper)
    yield "fence", rv.FENCE
    yield "fence.i", rv.FENCE_I


def float_samples(pick: random.Random) -> Iterator[Sample]:
    rd, a, b, c = (pick.randrange(32) for _ in range(4))
    rounding = pick.choice(list(ROUNDING_NAMES))
    mode = ROUNDING_NAMES[rounding]
    offset = pick.randrange(-2048, 2048)
    yield f"flw {F[rd]}, {offset}({X[a]})", rv.float_load(rd, a, offset)
    yield f"fsw {F[b]}, {offset}({X[a]})", rv.float_store(b, a, offset)
    for name in rv.FLOAT_ARITHMETIC:
        yield f"{name} {F[rd]}, {F[a]}, {F[b]}, {mode}", rv.float_arithmetic(name, rd, a, b, rounding)
    for name in rv.FLOAT_FIXED:
        yield f"{name} {F[rd]}, {F[a]}, {F[b]}", rv.float_fixed(name, rd, a, b)
    for name in rv.FLOAT_COMPARES:
        yield f"{name} {X[rd]}, {F[a]}, {F[b]}", rv.float_fixed(name, rd, a, b)
    for name, (_, _, fixed) in rv.FLOAT_UNARY.items():
        target = X[rd] if name in ("fcvt.w.s", "fcvt.wu.s", "fmv.x.w", "fclass.s") else F[rd]
        source = X[a] if name in ("fcvt.s.w", "fcvt.s.wu", "fmv.w.x") else F[a]
        suffix = "" if fixed is not None else f", {mode}"
        yield f"{name} {target}, {source}{suffix}", rv.float_unary(name, rd, a, rounding)
    for name in rv.FUSED:
        yield f"{name} {F[rd]}, {F[a]}, {F[b]}, {F[c]}, {mode}", rv.fused(name, rd, a, b, c, rounding)


def compressed_samples(pick: random.Random) -> Iterator[Sample]:
    rd, rs2 = pick.choice([r for r in range(1, 32) if r != 2]), pick.randrange(1, 32)
    short, other = pick.randrange(8, 16), pick.randrange(8, 16)
    small = pick.choice((-32, 31, pick.randrange(1, 31)))
    amount = pick.randrange(1, 32)
    yield f"c.addi4spn {X[short]}, sp, {(wide := 4 * pick.randrange(1, 256))}", rvc.addi4spn(short, wide)
    for name in rvc.SHORT_MEMORY:
        offset = 4 * pick.randrange(32)
        data = F[short] if "f" in name else X[short]
        yield f"{name} {data}, {offset}({X[other]})", rvc.short_memory(name, short, other, offset)
    yield "c.nop", rvc.nop()
    yield f"c.addi {X[rd]}, {small}", rvc.addi(rd, small)
    yield f"c.li {X[rd]}, {small}", rvc.li(rd, small)
    yield f"c.lui {X[rd]}, {small & 0xFFFFF}", rvc.lui(rd, small)
    yield f"c.addi16sp sp, {(step := 16 * pick.choice((-32, 31, 1, 5, -9)))}", rvc.addi16sp(step)
    for name in ("c.srli", "c.srai"):
        yield f"{name} {X[short]}, {amount}", rvc.shift_right(name, short, amount)
    yield f"c.andi {X[short]}, {small}", rvc.andi(short, small)
    for name in rvc.SHORT_ARITHMETIC:
        yield f"{name} {X[short]}, {X[other]}", rvc.short_arithmetic(name, short, other)
    for name in ("c.j", "c.jal"):
        far = 2 * pick.randrange(-1024, 1024)
        yield f"{name} .{far:+d}", rvc.jump(name, far)
    for name in ("c.beqz", "c.bnez"):
        near = 2 * pick.randrange(-128, 128)
        yield f"{name} {X[short]}, .{near:+d}", rvc.branch(name, short, near)
    yield f"c.slli {X[rd]}, {amount}", rvc.slli(rd, amount)
    stack = 4 * pick.randrange(64)
    yield f"c.lwsp {X[rd]}, {stack}(sp)", rvc.load_sp("c.lwsp", rd, stack)
    yield f"c.flwsp {F[rd]}, {stack}(sp)", rvc.load_sp("c.flwsp", rd, stack)
    yield f"c.swsp {X[rs2]}, {stack}(sp)", rvc.store_sp("c.swsp", rs2, stack)
    yield f"c.fswsp {F[rs2]}, {stack}(sp)", rvc.store_sp("c.fswsp", rs2, stack)
    yield f"c.jr {X[rd]}", rvc.jr(rd)
    yield f"c.jalr {X[rd]}", rvc.jalr(rd)
    yield f"c.mv {X[rd]}, {X[rs2]}", rvc.mv(rd, rs2)
    yield f"c.add {X[rd]}, {X[rs2]}", rvc.add(rd, rs2)


def text_section(image: bytes) -> bytes:
    """The .text bytes of a 32-bit little-endian ELF object."""
    table, entry, count, names = struct.unpack_from("<I", image, 32) + struct.unpack_from("<3H", image, 46)
    headers = [struct.unpack_from("<10I", image, table + entry * index) for index in range(count)]
    strings = headers[names][4]
    for header in headers:
        start = strings + header[0]
        if image[start : image.index(0, start)] == b".text":
            return image[header[4] : header[4] + header[5]]
    raise AssertionError("the object has no .text section")


def assemble(lines: list[str], folder: Path) -> bytes:
    source, target = folder / "samples.s", folder / "samples.o"
    source.write_text("\n".join([".text", ".option norelax", *lines, ""]))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none"]
    command += ["-mcpu=generic_rv32+m+f+c", "-g0", "-c", str(source), "-o", str(target)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return text_section(target.read_bytes())


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="the ziglang package (LLVM) is not installed")
@pytest.mark.parametrize("group", ["integer", "float", "compressed"])
def test_encoders_agree_with_llvm(group: str, tmp_path: Path) -> None:
    generate = {"integer": integer_samples, "float": float_samples, "compressed": compressed_samples}[group]
    pick = random.Random(2024)
    samples = [sample for _ in range(SAMPLES_PER_MNEMONIC) for sample in generate(pick)]
    size = 2 if group == "compressed" else 4
    option = ".option rvc" if size == 2 else ".option norvc"
    text = assemble([option, *(line for line, _ in samples)], tmp_path)
    assert len(text) == size * len(samples)
    for index, (line, word) in enumerate(samples):
        expected = int.from_bytes(text[size * index : size * (index + 1)], "little")
        assert word == expected, f"{line}: encoder {word:#x}, LLVM {expected:#x}"
