/* SPDX-License-Identifier: Apache-2.0
 *
 * XpulpV2 (legacy RI5CY encodings) for C. Two layers:
 *
 *   tvm_pulp_xp_*   one instruction as a function, with a plain-C model for every other machine. Define
 *                   TVM_PULP_XPULP_MODEL to get the models on RISC-V too.
 *   XP_*            one instruction as assembler text, for loops that are written as one `asm` statement. Registers
 *                   are strings: operands ("%[x]") or names ("t0").
 *
 * Neither gcc nor clang knows these encodings, so everything is spelled with `.insn`. */
#ifndef TVM_PULP_XPULP_H
#define TVM_PULP_XPULP_H

#include <stdint.h>

/* A function that kernels call for small layers, whose code is cold: it lies beside them, where the linker script puts
 * them together, and what few layers need lies elsewhere. */
#define TVM_PULP_CLOSE __attribute__((noinline, section(".text..close")))

#define TVM_PULP_XP static inline __attribute__((always_inline, unused))

/* An instruction of two registers, of one, and of two with a destination that is read as well: its encoding, and what
 * it means in C. Of LANES that is said of byte `i`. */
#if defined(__riscv) && !defined(TVM_PULP_XPULP_MODEL)
#define TVM_PULP_XPULP_NATIVE 1

#define TVM_PULP_XP_RR(name, op, f3, f7, meaning)                                    \
  TVM_PULP_XP int32_t name(int32_t a, int32_t b) {                                   \
    int32_t d;                                                                       \
    __asm__(".insn r " #op "," #f3 "," #f7 ",%0,%1,%2" : "=r"(d) : "r"(a), "r"(b));   \
    return d;                                                                        \
  }
#define TVM_PULP_XP_R(name, op, f3, f7, meaning)                                     \
  TVM_PULP_XP int32_t name(int32_t a) {                                              \
    int32_t d;                                                                       \
    __asm__(".insn r " #op "," #f3 "," #f7 ",%0,%1,x0" : "=r"(d) : "r"(a));          \
    return d;                                                                        \
  }
#define TVM_PULP_XP_RRA(name, op, f3, f7, meaning)                                   \
  TVM_PULP_XP int32_t name(int32_t acc, int32_t a, int32_t b) {                      \
    __asm__(".insn r " #op "," #f3 "," #f7 ",%0,%1,%2" : "+r"(acc) : "r"(a), "r"(b)); \
    return acc;                                                                      \
  }

#define TVM_PULP_XP_LANES TVM_PULP_XP_RR

/* A word that may stand anywhere; the core splits what crosses a word boundary. */
TVM_PULP_XP int32_t tvm_pulp_xp_word(const void *address) {
  int32_t d;
  __asm__ volatile("lw %0,0(%1)" : "=r"(d) : "r"(address) : "memory");
  return d;
}
TVM_PULP_XP void tvm_pulp_xp_put_word(void *address, int32_t value) {
  __asm__ volatile("sw %0,0(%1)" : : "r"(value), "r"(address) : "memory");
}

#else /* plain-C models */

#define TVM_PULP_XP_RR(name, op, f3, f7, meaning) \
  TVM_PULP_XP int32_t name(int32_t a, int32_t b) { return meaning; }
#define TVM_PULP_XP_R(name, op, f3, f7, meaning) \
  TVM_PULP_XP int32_t name(int32_t a) { return meaning; }
#define TVM_PULP_XP_RRA(name, op, f3, f7, meaning) \
  TVM_PULP_XP int32_t name(int32_t acc, int32_t a, int32_t b) { return meaning; }
#define TVM_PULP_XP_LANES(name, op, f3, f7, meaning)                                 \
  TVM_PULP_XP int32_t name(int32_t a, int32_t b) {                                   \
    uint32_t d = 0;                                                                  \
    for (int32_t i = 0; i < 4; ++i) d |= (uint32_t)(uint8_t)(meaning) << (8 * i);    \
    return (int32_t)d;                                                               \
  }

TVM_PULP_XP int32_t tvm_pulp_xp_word(const void *address) {
  int32_t d;
  __builtin_memcpy(&d, address, 4);
  return d;
}
TVM_PULP_XP void tvm_pulp_xp_put_word(void *address, int32_t value) { __builtin_memcpy(address, &value, 4); }
#endif


TVM_PULP_XP_RR(tvm_pulp_xp_min, 0x33, 4, 0x02, a < b ? a : b)
TVM_PULP_XP_RR(tvm_pulp_xp_max, 0x33, 6, 0x02, a > b ? a : b)
/* To [-b - 1, b], and to [0, b]. */
TVM_PULP_XP_RR(tvm_pulp_xp_clipr, 0x33, 5, 0x0a, a < ~b ? ~b : a > b ? b : a)
TVM_PULP_XP_RR(tvm_pulp_xp_clipur, 0x33, 6, 0x0a, a < 0 ? 0 : a > b ? b : a)
TVM_PULP_XP_R(tvm_pulp_xp_abs, 0x33, 0, 0x02, a < 0 ? (int32_t)(0u - (uint32_t)a) : a)
/* Index of the highest and of the lowest set bit, 32 if there is none. */
TVM_PULP_XP_R(tvm_pulp_xp_fl1, 0x33, 1, 0x08, a == 0 ? 32 : 31 - __builtin_clz((uint32_t)a))
TVM_PULP_XP_R(tvm_pulp_xp_ff1, 0x33, 0, 0x08, a == 0 ? 32 : __builtin_ctz((uint32_t)a))
TVM_PULP_XP_RRA(tvm_pulp_xp_mac, 0x33, 0, 0x21, (int32_t)((uint32_t)acc + (uint32_t)a * (uint32_t)b))
TVM_PULP_XP_RRA(tvm_pulp_xp_msu, 0x33, 1, 0x21, (int32_t)((uint32_t)acc - (uint32_t)a * (uint32_t)b))
/* (acc + a) >> b, without and with rounding half up. */
TVM_PULP_XP_RRA(tvm_pulp_xp_add_shift, 0x5b, 2, 0x20, (int32_t)((uint32_t)acc + (uint32_t)a) >> (b & 31))
TVM_PULP_XP_RRA(tvm_pulp_xp_add_round_shift, 0x5b, 6, 0x20,
                (int32_t)((uint32_t)acc + (uint32_t)a + ((1u << (b & 31)) >> 1)) >> (b & 31))

/* Byte `i` of a word, signed and unsigned. */
TVM_PULP_XP int32_t tvm_pulp_xp_lane(int32_t a, int32_t i) { return (int8_t)((uint32_t)a >> (8 * i)); }
TVM_PULP_XP int32_t tvm_pulp_xp_laneu(int32_t a, int32_t i) { return (uint8_t)((uint32_t)a >> (8 * i)); }
#define TVM_PULP_XP_DOT(name, lane_a, lane_b)                                                          \
  TVM_PULP_XP int32_t name(int32_t acc, int32_t a, int32_t b) {                                        \
    for (int32_t i = 0; i < 4; ++i) acc = tvm_pulp_xp_mac(acc, lane_a(a, i), lane_b(b, i));            \
    return acc;                                                                                        \
  }
TVM_PULP_XP_DOT(tvm_pulp_xp_dot_signed, tvm_pulp_xp_lane, tvm_pulp_xp_lane)
TVM_PULP_XP_DOT(tvm_pulp_xp_dot_unsigned, tvm_pulp_xp_laneu, tvm_pulp_xp_laneu)
TVM_PULP_XP_DOT(tvm_pulp_xp_dot_mixed, tvm_pulp_xp_laneu, tvm_pulp_xp_lane)
/* sp: signed by signed, up: unsigned by unsigned, usp: unsigned by signed. */
TVM_PULP_XP_RR(tvm_pulp_xp_dotsp4, 0x57, 1, 0x4c, tvm_pulp_xp_dot_signed(0, a, b))
TVM_PULP_XP_RR(tvm_pulp_xp_dotusp4, 0x57, 1, 0x44, tvm_pulp_xp_dot_mixed(0, a, b))
TVM_PULP_XP_RRA(tvm_pulp_xp_sdotsp4, 0x57, 1, 0x5c, tvm_pulp_xp_dot_signed(acc, a, b))
TVM_PULP_XP_RRA(tvm_pulp_xp_sdotup4, 0x57, 1, 0x50, tvm_pulp_xp_dot_unsigned(acc, a, b))
TVM_PULP_XP_RRA(tvm_pulp_xp_sdotusp4, 0x57, 1, 0x54, tvm_pulp_xp_dot_mixed(acc, a, b))
/* Two halves. */
TVM_PULP_XP_RRA(tvm_pulp_xp_sdotsp2, 0x57, 0, 0x5c,
                tvm_pulp_xp_mac(tvm_pulp_xp_mac(acc, (int16_t)a, (int16_t)b), a >> 16, b >> 16))
TVM_PULP_XP_RRA(tvm_pulp_xp_sdotusp2, 0x57, 0, 0x54,
                tvm_pulp_xp_mac(tvm_pulp_xp_mac(acc, (uint16_t)a, (int16_t)b), (int32_t)((uint32_t)a >> 16), b >> 16))

TVM_PULP_XP_LANES(tvm_pulp_xp_add4, 0x57, 1, 0x00, tvm_pulp_xp_lane(a, i) + tvm_pulp_xp_lane(b, i))
TVM_PULP_XP_LANES(tvm_pulp_xp_sub4, 0x57, 1, 0x04, tvm_pulp_xp_lane(a, i) - tvm_pulp_xp_lane(b, i))
TVM_PULP_XP_LANES(tvm_pulp_xp_max4, 0x57, 1, 0x18, tvm_pulp_xp_max(tvm_pulp_xp_lane(a, i), tvm_pulp_xp_lane(b, i)))
TVM_PULP_XP_LANES(tvm_pulp_xp_maxu4, 0x57, 1, 0x1c, tvm_pulp_xp_max(tvm_pulp_xp_laneu(a, i), tvm_pulp_xp_laneu(b, i)))
TVM_PULP_XP_LANES(tvm_pulp_xp_minu4, 0x57, 1, 0x14, tvm_pulp_xp_min(tvm_pulp_xp_laneu(a, i), tvm_pulp_xp_laneu(b, i)))

/* Low halves: a above b. */
TVM_PULP_XP_RR(tvm_pulp_xp_pack_h, 0x57, 0, 0x68, (int32_t)((uint32_t)a << 16 | ((uint32_t)b & 0xffffu)))
/* Low bytes of a and b into bytes 1 and 0, or 3 and 2; the rest of acc stays. */
TVM_PULP_XP_RRA(tvm_pulp_xp_packlo, 0x57, 1, 0x70,
                (int32_t)(((uint32_t)acc & 0xffff0000u) | ((uint32_t)a & 0xffu) << 8 | ((uint32_t)b & 0xffu)))
TVM_PULP_XP_RRA(tvm_pulp_xp_packhi, 0x57, 1, 0x6c,
                (int32_t)(((uint32_t)acc & 0xffffu) | (uint32_t)a << 24 | ((uint32_t)b & 0xffu) << 16))

/* Lane i is lane (select_i mod lanes) of a where the bit above the index is set, else of acc. */
TVM_PULP_XP int32_t tvm_pulp_xp_shuffled(int32_t acc, int32_t a, int32_t select, uint32_t bits) {
  uint32_t d = 0, lanes = 32u / bits, lane = 0xffffffffu >> (32u - bits);
  for (uint32_t at = 0; at < 32u; at += bits) {
    uint32_t s = (uint32_t)select >> at, from = (uint32_t)((s & lanes) ? a : acc);
    d |= (from >> (bits * (s & (lanes - 1u))) & lane) << at;
  }
  return (int32_t)d;
}
TVM_PULP_XP_RRA(tvm_pulp_xp_shuffle2_b, 0x57, 1, 0x64, tvm_pulp_xp_shuffled(acc, a, b, 8))
TVM_PULP_XP_RRA(tvm_pulp_xp_shuffle2_h, 0x57, 0, 0x64, tvm_pulp_xp_shuffled(acc, a, b, 16))

/* A 4 x 4 block of bytes turned: word i of the result holds byte i of w[0], w[1], w[2], w[3]. */
TVM_PULP_XP void tvm_pulp_xp_transpose4(int32_t w[4]) {
  const int32_t low = 0x05010400, high = 0x07030602;     /* bytes 0, 0', 1, 1' and 2, 2', 3, 3' */
  const int32_t upper = 0x00030001;                      /* upper half of acc below upper half of a */
  int32_t t0 = tvm_pulp_xp_shuffle2_b(w[0], w[1], low), t1 = tvm_pulp_xp_shuffle2_b(w[0], w[1], high);
  int32_t t2 = tvm_pulp_xp_shuffle2_b(w[2], w[3], low), t3 = tvm_pulp_xp_shuffle2_b(w[2], w[3], high);
  w[0] = tvm_pulp_xp_pack_h(t2, t0);
  w[1] = tvm_pulp_xp_shuffle2_h(t0, t2, upper);
  w[2] = tvm_pulp_xp_pack_h(t3, t1);
  w[3] = tvm_pulp_xp_shuffle2_h(t1, t3, upper);
}

#ifdef TVM_PULP_XPULP_NATIVE
/* Numbers of the registers, for words that are built by expression. */
__asm__(
    ".equ .Lr_ra,1\n.equ .Lr_t0,5\n.equ .Lr_t1,6\n.equ .Lr_t2,7\n.equ .Lr_s0,8\n.equ .Lr_s1,9\n"
    ".equ .Lr_a0,10\n.equ .Lr_a1,11\n.equ .Lr_a2,12\n.equ .Lr_a3,13\n.equ .Lr_a4,14\n.equ .Lr_a5,15\n"
    ".equ .Lr_a6,16\n.equ .Lr_a7,17\n.equ .Lr_s2,18\n.equ .Lr_s3,19\n.equ .Lr_s4,20\n.equ .Lr_s5,21\n"
    ".equ .Lr_s6,22\n.equ .Lr_s7,23\n.equ .Lr_s8,24\n.equ .Lr_s9,25\n.equ .Lr_s10,26\n.equ .Lr_s11,27\n"
    ".equ .Lr_t3,28\n.equ .Lr_t4,29\n.equ .Lr_t5,30\n.equ .Lr_t6,31\n");

#define XP_R(op, f3, f7, rd, rs1, rs2) ".insn r " #op "," #f3 "," #f7 "," rd "," rs1 "," rs2 "\n"
#define XP_LOAD(f3, rd, imm, rs1) ".insn i 0x0b," #f3 "," rd "," rs1 "," #imm "\n"
#define XP_STORE(f3, rs2, imm, rs1) ".insn s 0x2b," #f3 "," rs2 "," #imm "(" rs1 ")\n"

/* Loads and stores that move the pointer on afterwards. */
#define XP_LB(rd, imm, rs1) XP_LOAD(0, rd, imm, rs1)
#define XP_LH(rd, imm, rs1) XP_LOAD(1, rd, imm, rs1)
#define XP_LW(rd, imm, rs1) XP_LOAD(2, rd, imm, rs1)
#define XP_LBU(rd, imm, rs1) XP_LOAD(4, rd, imm, rs1)
#define XP_SB(rs2, imm, rs1) XP_STORE(0, rs2, imm, rs1)
#define XP_SH(rs2, imm, rs1) XP_STORE(1, rs2, imm, rs1)
#define XP_SW(rs2, imm, rs1) XP_STORE(2, rs2, imm, rs1)
/* ... by a register. */
#define XP_LWR(rd, step, rs1) XP_R(0x0b, 7, 0x10, rd, rs1, step)
#define XP_LBR(rd, step, rs1) XP_R(0x0b, 7, 0x00, rd, rs1, step)
#define XP_LBUR(rd, step, rs1) XP_R(0x0b, 7, 0x20, rd, rs1, step)
#define XP_SWR(rs2, step, rs1) XP_R(0x2b, 6, 0x00, step, rs1, rs2)
#define XP_SBR(rs2, step, rs1) XP_R(0x2b, 4, 0x00, step, rs1, rs2)
/* Loads and stores at base + offset register. */
#define XP_LWX(rd, offset, rs1) XP_R(0x03, 7, 0x10, rd, rs1, offset)
#define XP_SWX(rs2, offset, rs1) XP_R(0x23, 6, 0x00, offset, rs1, rs2)
#define XP_LBX(rd, offset, rs1) XP_R(0x03, 7, 0x00, rd, rs1, offset)
#define XP_LBUX(rd, offset, rs1) XP_R(0x03, 7, 0x20, rd, rs1, offset)
#define XP_LHUX(rd, offset, rs1) XP_R(0x03, 7, 0x28, rd, rs1, offset)

#define XP_MIN(rd, a, b) XP_R(0x33, 4, 0x02, rd, a, b)
#define XP_MAX(rd, a, b) XP_R(0x33, 6, 0x02, rd, a, b)
/* a <= b, unsigned */
#define XP_SLETU(rd, a, b) XP_R(0x33, 3, 0x02, rd, a, b)
#define XP_ABS(rd, a) XP_R(0x33, 0, 0x02, rd, a, "x0")
/* To [-128, 127]. */
#define XP_CLIP8(rd, a) XP_R(0x33, 1, 0x0a, rd, a, "x8")
#define XP_CLIPU8(rd, a) XP_R(0x33, 2, 0x0a, rd, a, "x9")
#define XP_CLIPR(rd, a, b) XP_R(0x33, 5, 0x0a, rd, a, b)
#define XP_CLIPUR(rd, a, b) XP_R(0x33, 6, 0x0a, rd, a, b)
#define XP_MAC(rd, a, b) XP_R(0x33, 0, 0x21, rd, a, b)
/* The bit of a that the low five bits of b name. */
#define XP_EXTRACTUR(rd, a, b) XP_R(0x33, 1, 0x40, rd, a, b)
#define XP_MSU(rd, a, b) XP_R(0x33, 1, 0x21, rd, a, b)
/* rd = (rd + a) >> b */
#define XP_ADDNR(rd, a, b) XP_R(0x5b, 2, 0x20, rd, a, b)
/* rd = (a + b) >> 1 */
#define XP_ADDN1(rd, a, b) XP_R(0x5b, 2, 0x01, rd, a, b)
/* Products of unsigned lower and upper halves: rd = a * b >> 16 and rd = (rd + a * b) >> 23 */
#define XP_MULU16(rd, a, b) XP_R(0x5b, 0, 0x10, rd, a, b)
#define XP_MULHHU16(rd, a, b) XP_R(0x5b, 0, 0x30, rd, a, b)
#define XP_MACU23(rd, a, b) XP_R(0x5b, 1, 0x17, rd, a, b)
#define XP_MACHHU23(rd, a, b) XP_R(0x5b, 1, 0x37, rd, a, b)
/* Product of signed lower halves: rd = (a * b + 2^15) >> 16 */
#define XP_MULSR16(rd, a, b) XP_R(0x5b, 4, 0x50, rd, a, b)
#define XP_SDOTSP(rd, a, b) XP_R(0x57, 1, 0x5c, rd, a, b)
#define XP_SDOTUSP(rd, a, b) XP_R(0x57, 1, 0x54, rd, a, b)
#define XP_SDOTUP(rd, a, b) XP_R(0x57, 1, 0x50, rd, a, b)
#define XP_DOTSP(rd, a, b) XP_R(0x57, 1, 0x4c, rd, a, b)
#define XP_DOTUSP(rd, a, b) XP_R(0x57, 1, 0x44, rd, a, b)
#define XP_DOTUP(rd, a, b) XP_R(0x57, 1, 0x40, rd, a, b)
/* Two halves. */
#define XP_MINU2(rd, a, b) XP_R(0x57, 0, 0x14, rd, a, b)
#define XP_MAXU2(rd, a, b) XP_R(0x57, 0, 0x1c, rd, a, b)
/* All ones where a >= b, unsigned. */
#define XP_CMPGEU2(rd, a, b) XP_R(0x57, 0, 0x1e, rd, a, b)
#define XP_SDOTUP2(rd, a, b) XP_R(0x57, 0, 0x50, rd, a, b)
#define XP_DOTSP2(rd, a, b) XP_R(0x57, 0, 0x4c, rd, a, b)
#define XP_SDOTSP2(rd, a, b) XP_R(0x57, 0, 0x5c, rd, a, b)
#define XP_SDOTUSP2(rd, a, b) XP_R(0x57, 0, 0x54, rd, a, b)
#define XP_MAX4(rd, a, b) XP_R(0x57, 1, 0x18, rd, a, b)
#define XP_MAXU4(rd, a, b) XP_R(0x57, 1, 0x1c, rd, a, b)
#define XP_MINU4(rd, a, b) XP_R(0x57, 1, 0x14, rd, a, b)
/* All ones where a < b, unsigned. */
#define XP_CMPLTU4(rd, a, b) XP_R(0x57, 1, 0x22, rd, a, b)
/* The low four bits of every byte. */
#define XP_LOW_4(rd, a) XP_R(0x57, 7, 0x35, rd, a, "x7")
#define XP_ADD4(rd, a, b) XP_R(0x57, 1, 0x00, rd, a, b)
#define XP_SUB4(rd, a, b) XP_R(0x57, 1, 0x04, rd, a, b)
#define XP_PACK_H(rd, a, b) XP_R(0x57, 0, 0x68, rd, a, b)
/* The byte of a word with a number, zero extended; the low byte of a register into byte 1 of another. */
#define XP_BYTE_0(rd, a) XP_R(0x57, 7, 0x48, rd, a, "x0")
#define XP_BYTE_1(rd, a) XP_R(0x57, 7, 0x49, rd, a, "x0")
#define XP_BYTE_2(rd, a) XP_R(0x57, 7, 0x48, rd, a, "x1")
#define XP_BYTE_3(rd, a) XP_R(0x57, 7, 0x49, rd, a, "x1")
#define XP_INSERT_1(rd, a) XP_R(0x57, 7, 0x59, rd, a, "x0")
#define XP_SHUFFLE2_B(rd, a, select) XP_R(0x57, 1, 0x64, rd, a, select)
#define XP_SHUFFLE2_H(rd, a, select) XP_R(0x57, 0, 0x64, rd, a, select)
#define XP_PACKLO(rd, a, b) XP_R(0x57, 1, 0x70, rd, a, b)
#define XP_PACKHI(rd, a, b) XP_R(0x57, 1, 0x6c, rd, a, b)

/* Operands of an `asm` statement that are numbered from 0 on, as the variables that they stand for; of elements of an
 * array. */
#define XP_TWO(constraint, v) [v##0] constraint(v##0), [v##1] constraint(v##1)
#define XP_FOUR(constraint, v) XP_TWO(constraint, v), [v##2] constraint(v##2), [v##3] constraint(v##3)
#define XP_EIGHT(constraint, v) XP_FOUR(constraint, v), XP_FOUR_MORE(constraint, v)
#define XP_FOUR_MORE(constraint, v) \
  [v##4] constraint(v##4), [v##5] constraint(v##5), [v##6] constraint(v##6), [v##7] constraint(v##7)
#define XP_FOUR_OF(constraint, v, array) \
  [v##0] constraint(array[0]), [v##1] constraint(array[1]), [v##2] constraint(array[2]), [v##3] constraint(array[3])

/* Scratch values of a statement that has more operands than GNU's compiler takes: 30, of which those that are read and
 * written count twice. It gets them as registers by name, among those that the statement changes; clang, which has no
 * such limit, chooses registers for them as for all others. */
#if defined(__clang__)
#define XP_SCRATCH(name, reg) "%[" #name "]"
#define XP_SCRATCH_OPERANDS(...) , __VA_ARGS__
#define XP_SCRATCH_REGISTERS(...)
#else
#define XP_SCRATCH(name, reg) reg
#define XP_SCRATCH_OPERANDS(...)
#define XP_SCRATCH_REGISTERS(...) , __VA_ARGS__
#endif
#define XP_SCRATCH_VALUE __attribute__((unused)) int32_t

/* A loop over bytes with a sign, or that for the others; types are those of kernels.h. */
#define XP_BY_SIGN(type, of_signed, of_unsigned) \
  do {                                           \
    if ((type) == TVM_PULP_INT8) {               \
      of_signed;                                 \
    } else {                                     \
      of_unsigned;                               \
    }                                            \
  } while (0)

/* Hardware loop 0: the body stands between XP_LOOP and XP_LOOP_END; XP_LOOP_END comes before the LAST instruction of
 * the body. The body has at least three instructions, none of them compressed; it runs count times, count >= 1. */
#define XP_BEGIN ".option push\n.balign 4\n.option norelax\n.option norvc\n"
#define XP_END ".option pop\n"
#define XP_LOOP(count) "8: .4byte 0x0000407b | (.Lr_" count "<<15) | (((9f-8b)/2)<<20)\n"
#define XP_LOOP_END "9: "
/* Hardware loop 1 in the same way, around loop 0. */
#define XP_OUTER_LOOP(count) "6: .4byte 0x000040fb | (.Lr_" count "<<15) | (((7f-6b)/2)<<20)\n"
#define XP_OUTER_LOOP_END "7: "
#endif /* TVM_PULP_XPULP_NATIVE */

#endif /* TVM_PULP_XPULP_H */
