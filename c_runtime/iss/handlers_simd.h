/* SPDX-License-Identifier: Apache-2.0
 *
 * Packed operations that XpulpV2 has beside handlers_xpulpimg.h. Included inside execute(). */

  PACKED_COMPARISONS(PACKED, )

/* Two or four of them in a row, see loops.c: one jump instead of as many. */
#define REPEATED(name, dot)            \
  op_##name##_twice : {                \
    RD += dot(S1, S2);                 \
    ip += 2;                           \
    RD += dot(S1, S2);                 \
    now += 1;                          \
    NEXT();                            \
  }                                    \
  op_##name##_four : {                 \
    RD += dot(S1, S2);                 \
    ip += 2;                           \
    RD += dot(S1, S2);                 \
    ip += 2;                           \
    RD += dot(S1, S2);                 \
    ip += 2;                           \
    RD += dot(S1, S2);                 \
    now += 3;                          \
    NEXT();                            \
  }

  REPEATED(sdotsp_b, dot_ss_b)
  REPEATED(sdotusp_b, dot_us_b)

  ALU(pv_shuffle_h, shuffle_h(S1, S2))
  ALU(pv_shuffle_b, shuffle_b(S1, S2, 8))
  ALU(pv_shuffle_sci_h, shuffle_h(S1, ((uint32_t)ip->imm & 1) | ((uint32_t)ip->imm >> 1 & 1) << 16))
  ALU(pv_shuffle_sci_b, shuffle_b(S1, (uint32_t)ip->imm, 2))
  ALU(pv_packhi_b, (RD & 0xffffu) | S1 << 24 | (S2 & 0xffu) << 16)
  ALU(pv_packlo_b, (RD & 0xffff0000u) | (S1 & 0xffu) << 8 | (S2 & 0xffu))
