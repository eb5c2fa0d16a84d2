/* SPDX-License-Identifier: Apache-2.0
 *
 * XpulpV2 packed operations. Included inside execute(). */

/* Six operand forms of one operation; immediates were broadcast by the decoder. */
#define SIMD(name, function)                                                \
  ALU(name##_h, function##_h(S1, S2))                                       \
  ALU(name##_b, function##_b(S1, S2))                                       \
  ALU(name##_sc_h, function##_h(S1, broadcast_h(S2)))                       \
  ALU(name##_sc_b, function##_b(S1, broadcast_b(S2)))                       \
  ALU(name##_sci_h, function##_h(S1, (uint32_t)ip->imm))                    \
  ALU(name##_sci_b, function##_b(S1, (uint32_t)ip->imm))

#define PACKED(X, name, kind, result) SIMD(pv_##name, lanes_##name)
  PACKED_OPS(PACKED, )
  SIMD(pv_dotup, dot_uu)
  SIMD(pv_dotusp, dot_us)
  SIMD(pv_dotsp, dot_ss)
  SIMD(pv_sdotup, RD + dot_uu)
  SIMD(pv_sdotusp, RD + dot_us)
  SIMD(pv_sdotsp, RD + dot_ss)

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

  ALU(pv_abs_h, lanes_abs_h(S1, 0))
  ALU(pv_abs_b, lanes_abs_b(S1, 0))
  ALU(pv_extract_h, (uint32_t)(int16_t)(S1 >> ip->imm))
  ALU(pv_extract_b, (uint32_t)(int8_t)(S1 >> ip->imm))
  ALU(pv_extractu_h, (uint16_t)(S1 >> ip->imm))
  ALU(pv_extractu_b, (uint8_t)(S1 >> ip->imm))
  ALU(pv_insert_h, (RD & ~(0xffffu << ip->imm)) | (S1 & 0xffffu) << ip->imm)
  ALU(pv_insert_b, (RD & ~(0xffu << ip->imm)) | (S1 & 0xffu) << ip->imm)
  ALU(pv_shuffle_h, shuffle_h(S1, S2))
  ALU(pv_shuffle_b, shuffle_b(S1, S2, 8))
  ALU(pv_shuffle_sci_h, shuffle_h(S1, ((uint32_t)ip->imm & 1) | ((uint32_t)ip->imm >> 1 & 1) << 16))
  ALU(pv_shuffle_sci_b, shuffle_b(S1, (uint32_t)ip->imm, 2))
  ALU(pv_shuffle2_h, shuffle2(S1, S2, RD, 2))
  ALU(pv_shuffle2_b, shuffle2(S1, S2, RD, 4))
  ALU(pv_pack_h, S1 << 16 | (S2 & 0xffffu))
  ALU(pv_packhi_b, (RD & 0xffffu) | S1 << 24 | (S2 & 0xffu) << 16)
  ALU(pv_packlo_b, (RD & 0xffff0000u) | (S1 & 0xffu) << 8 | (S2 & 0xffu))
