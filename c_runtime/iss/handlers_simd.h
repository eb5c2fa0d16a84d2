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
  SIMD(pv_cmpeq, lanes_cmpeq)
  SIMD(pv_cmpne, lanes_cmpne)
  SIMD(pv_cmpgt, lanes_cmpgt)
  SIMD(pv_cmpge, lanes_cmpge)
  SIMD(pv_cmplt, lanes_cmplt)
  SIMD(pv_cmple, lanes_cmple)
  SIMD(pv_cmpgtu, lanes_cmpgtu)
  SIMD(pv_cmpgeu, lanes_cmpgeu)
  SIMD(pv_cmpltu, lanes_cmpltu)
  SIMD(pv_cmpleu, lanes_cmpleu)
  SIMD(pv_dotup, dot_uu)
  SIMD(pv_dotusp, dot_us)
  SIMD(pv_dotsp, dot_ss)
  SIMD(pv_sdotup, RD + dot_uu)
  SIMD(pv_sdotusp, RD + dot_us)
  SIMD(pv_sdotsp, RD + dot_ss)

/* Two or four of them in a row, see runs.c: one jump instead of as many. */
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
  ALU(pv_shuffle_b, shuffle_b(S1, S2))
  ALU(pv_shuffle_sci_h, shuffle_h(S1, ((uint32_t)ip->imm & 1) | ((uint32_t)ip->imm >> 1 & 1) << 16))
  ALU(pv_shuffle_sci_b, shuffle_packed_b(S1, (uint32_t)ip->imm))
  ALU(pv_shuffle2_h, shuffle2_h(S1, S2, RD))
  ALU(pv_shuffle2_b, shuffle2_b(S1, S2, RD))
  ALU(pv_pack_h, S1 << 16 | (S2 & 0xffffu))
  ALU(pv_packhi_b, (RD & 0xffffu) | S1 << 24 | (S2 & 0xffu) << 16)
  ALU(pv_packlo_b, (RD & 0xffff0000u) | (S1 & 0xffu) << 8 | (S2 & 0xffu))
