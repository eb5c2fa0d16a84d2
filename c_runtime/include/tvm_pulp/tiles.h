/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of XpulpV2 that cores in pools of tiles have, as far as their kernels use it, with plain-C models for every
 * other machine. */
#ifndef TVM_PULP_TILES_H
#define TVM_PULP_TILES_H

#include <stdint.h>

#define TVM_PULP_XI static inline __attribute__((always_inline, unused))

/* Cores without these instructions, and other machines, take the models. */
#if defined(__riscv) && defined(POOL_DOT_PRODUCTS) && POOL_DOT_PRODUCTS
#define TVM_PULP_XPULPIMG 1

#define TVM_PULP_XI_R(name, op, f3, f7)                                                \
  TVM_PULP_XI int32_t name(int32_t a, int32_t b) {                                     \
    int32_t d;                                                                         \
    __asm__(".insn r " #op "," #f3 "," #f7 ",%0,%1,%2" : "=r"(d) : "r"(a), "r"(b));     \
    return d;                                                                          \
  }
#define TVM_PULP_XI_RA(name, op, f3, f7)                                               \
  TVM_PULP_XI int32_t name(int32_t acc, int32_t a, int32_t b) {                        \
    __asm__(".insn r " #op "," #f3 "," #f7 ",%0,%1,%2" : "+r"(acc) : "r"(a), "r"(b));   \
    return acc;                                                                        \
  }
TVM_PULP_XI_R(tvm_pulp_xi_min, 0x33, 4, 0x02)
TVM_PULP_XI_R(tvm_pulp_xi_max, 0x33, 6, 0x02)
TVM_PULP_XI_RA(tvm_pulp_xi_mac, 0x33, 0, 0x21)
TVM_PULP_XI_RA(tvm_pulp_xi_sdotsp4, 0x57, 1, 0x5c)
TVM_PULP_XI_RA(tvm_pulp_xi_sdotusp4, 0x57, 1, 0x54)

/* One instruction as assembler text: loads that move the pointer on, dot products of four bytes. */
#define XI_R(op, f3, f7, rd, rs1, rs2) ".insn r " #op "," #f3 "," #f7 "," rd "," rs1 "," rs2 "\n"
#define XI_LW(rd, rs1) ".insn i 0x0b,2," rd "," rs1 ",4\n"
#define XI_LWR(rd, step, rs1) XI_R(0x0b, 7, 0x10, rd, rs1, step)
#define XI_MIN(rd, a, b) XI_R(0x33, 4, 0x02, rd, a, b)
#define XI_MAX(rd, a, b) XI_R(0x33, 6, 0x02, rd, a, b)
#define XI_SDOTSP(rd, a, b) XI_R(0x57, 1, 0x5c, rd, a, b)
#define XI_SDOTUSP(rd, a, b) XI_R(0x57, 1, 0x54, rd, a, b)
#else
TVM_PULP_XI int32_t tvm_pulp_xi_min(int32_t a, int32_t b) { return a < b ? a : b; }
TVM_PULP_XI int32_t tvm_pulp_xi_max(int32_t a, int32_t b) { return a > b ? a : b; }
TVM_PULP_XI int32_t tvm_pulp_xi_mac(int32_t acc, int32_t a, int32_t b) {
  return (int32_t)((uint32_t)acc + (uint32_t)a * (uint32_t)b);
}
TVM_PULP_XI int32_t tvm_pulp_xi_sdotsp4(int32_t acc, int32_t a, int32_t b) {
  for (int32_t i = 0; i < 32; i += 8) acc += (int8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i);
  return acc;
}
/* First operand unsigned, second signed. */
TVM_PULP_XI int32_t tvm_pulp_xi_sdotusp4(int32_t acc, int32_t a, int32_t b) {
  for (int32_t i = 0; i < 32; i += 8) acc += (uint8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i);
  return acc;
}
#endif

#endif /* TVM_PULP_TILES_H */
