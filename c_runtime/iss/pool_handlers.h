/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IMA and Xpulpimg, the part of XpulpV2 that these cores have. Included inside pool_execute(). */

/* A unit of the core's own, which takes an instruction per cycle. */
#define MULTIPLY(name, expression)                              \
  op_##name : {                                                 \
    ISSUE();                                                    \
    RD = (expression);                                          \
    EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_multiply); \
    NEXT();                                                     \
  }

/* One division at a time. */
#define DIVIDE(name, magnitude_a, magnitude_b, expression)   \
  op_##name : {                                              \
    uint32_t a, b;                                           \
    uint64_t steps;                                          \
    ISSUE();                                                 \
    STALL_UNTIL(c->offload_free, multiply_divide);           \
    a = S1, b = S2;                                          \
    steps = divide_steps(magnitude_a, magnitude_b);          \
    c->offload_free = now + (steps > 3 ? steps - 3 : 1);     \
    RD = (expression);                                       \
    EXPECT(ip->rd, now + steps);                             \
    NEXT();                                                  \
  }

#define CSR(name, writes, new_value)                                       \
  op_##name : {                                                            \
    uint32_t number = (uint32_t)ip->imm, old = 0, field = ip->rs1, source; \
    ISSUE();                                                               \
    source = ip->op >= OP_csrrwi ? field : S1;                             \
    snitch_csr(h, number, now, &old, 0, 0);                                \
    if (writes) snitch_csr(h, number, now, &old, 1, (new_value));          \
    RD = old;                                                              \
    NEXT();                                                                \
  }

#include "handlers_base.h"

op_wfi:
  IN_TURN();
  SAVE();
  if (pool_wait_for_wake_up(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT();

/* The rs2 field is a signed constant of five bits. */
#define SMALL_CONSTANT ((uint32_t)((int32_t)((uint32_t)ip->rs2 << 27) >> 27))
  BRANCH(p_beqimm, S1 == SMALL_CONSTANT)
  BRANCH(p_bneimm, S1 != SMALL_CONSTANT)

  MULTIPLY(p_abs, (int32_t)S1 < 0 ? 0u - S1 : S1)
  MULTIPLY(p_slet, (int32_t)S1 <= (int32_t)S2)
  MULTIPLY(p_sletu, S1 <= S2)
  MULTIPLY(p_min, (int32_t)S1 < (int32_t)S2 ? S1 : S2)
  MULTIPLY(p_minu, S1 < S2 ? S1 : S2)
  MULTIPLY(p_max, (int32_t)S1 > (int32_t)S2 ? S1 : S2)
  MULTIPLY(p_maxu, S1 > S2 ? S1 : S2)
  MULTIPLY(p_exths, (uint32_t)(int16_t)S1)
  MULTIPLY(p_exthz, (uint16_t)S1)
  MULTIPLY(p_extbs, (uint32_t)(int8_t)S1)
  MULTIPLY(p_extbz, (uint8_t)S1)
  MULTIPLY(p_clip, clip(S1, ~ip->imm, ip->imm))
  MULTIPLY(p_clipu, clip(S1, 0, ip->imm))
  MULTIPLY(p_clipr, clip(S1, ~(int32_t)S2, (int32_t)S2))
  MULTIPLY(p_clipur, clip(S1, 0, (int32_t)S2))
  MULTIPLY(p_mac, RD + S1 * S2)
  MULTIPLY(p_msu, RD - S1 * S2)

#define SIMD(name, function)                                \
  MULTIPLY(name##_h, function##_h(S1, S2))                  \
  MULTIPLY(name##_b, function##_b(S1, S2))                  \
  MULTIPLY(name##_sc_h, function##_h(S1, broadcast_h(S2)))  \
  MULTIPLY(name##_sc_b, function##_b(S1, broadcast_b(S2)))  \
  MULTIPLY(name##_sci_h, function##_h(S1, (uint32_t)ip->imm)) \
  MULTIPLY(name##_sci_b, function##_b(S1, (uint32_t)ip->imm))

  SIMD(pv_add, lanes_add)
  SIMD(pv_sub, lanes_sub)
  SIMD(pv_avg, lanes_avg)
  SIMD(pv_avgu, lanes_avgu)
  SIMD(pv_min, lanes_min)
  SIMD(pv_minu, lanes_minu)
  SIMD(pv_max, lanes_max)
  SIMD(pv_maxu, lanes_maxu)
  SIMD(pv_srl, lanes_srl)
  SIMD(pv_sra, lanes_sra)
  SIMD(pv_sll, lanes_sll)
  SIMD(pv_or, lanes_or)
  SIMD(pv_xor, lanes_xor)
  SIMD(pv_and, lanes_and)
  SIMD(pv_dotup, dot_uu)
  SIMD(pv_dotusp, dot_us)
  SIMD(pv_dotsp, dot_ss)
  SIMD(pv_sdotup, RD + dot_uu)
  SIMD(pv_sdotusp, RD + dot_us)
  SIMD(pv_sdotsp, RD + dot_ss)
  MULTIPLY(pv_abs_h, lanes_abs_h(S1, 0))
  MULTIPLY(pv_abs_b, lanes_abs_b(S1, 0))
  MULTIPLY(pv_extract_h, (uint32_t)(int16_t)(S1 >> ip->imm))
  MULTIPLY(pv_extract_b, (uint32_t)(int8_t)(S1 >> ip->imm))
  MULTIPLY(pv_extractu_h, (uint16_t)(S1 >> ip->imm))
  MULTIPLY(pv_extractu_b, (uint8_t)(S1 >> ip->imm))
  MULTIPLY(pv_insert_h, (RD & ~(0xffffu << ip->imm)) | (S1 & 0xffffu) << ip->imm)
  MULTIPLY(pv_insert_b, (RD & ~(0xffu << ip->imm)) | (S1 & 0xffu) << ip->imm)
  MULTIPLY(pv_shuffle2_h, shuffle2(S1, S2, RD, 2))
  MULTIPLY(pv_shuffle2_b, shuffle2(S1, S2, RD, 4))
  MULTIPLY(pv_pack_h, S1 << 16 | (S2 & 0xffffu))
  MULTIPLY(pv_packhi_b, (S1 & 0xffff0000u) | S2 >> 16) /* the decoder's name for upper halves here */
