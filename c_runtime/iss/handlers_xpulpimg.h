/* SPDX-License-Identifier: Apache-2.0
 *
 * Xpulpimg, the part of XpulpV2 that every core with packed operations has, inside an interpreter of any kind, which
 * says by PULP(name, expression) how such an instruction is issued and what its result waits for. */

/* The rs2 field is a signed constant of five bits. */
#define SMALL_CONSTANT ((uint32_t)((int32_t)((uint32_t)ip->rs2 << 27) >> 27))
  BRANCH(p_beqimm, S1 == SMALL_CONSTANT)
  BRANCH(p_bneimm, S1 != SMALL_CONSTANT)

  PULP(p_abs, (int32_t)S1 < 0 ? 0u - S1 : S1)
  PULP(p_slet, (int32_t)S1 <= (int32_t)S2)
  PULP(p_sletu, S1 <= S2)
  PULP(p_min, (int32_t)S1 < (int32_t)S2 ? S1 : S2)
  PULP(p_minu, S1 < S2 ? S1 : S2)
  PULP(p_max, (int32_t)S1 > (int32_t)S2 ? S1 : S2)
  PULP(p_maxu, S1 > S2 ? S1 : S2)
  PULP(p_exths, (uint32_t)(int16_t)S1)
  PULP(p_exthz, (uint16_t)S1)
  PULP(p_extbs, (uint32_t)(int8_t)S1)
  PULP(p_extbz, (uint8_t)S1)
  PULP(p_clip, clip(S1, ~ip->imm, ip->imm))
  PULP(p_clipu, clip(S1, 0, ip->imm))
  PULP(p_clipr, clip(S1, ~(int32_t)S2, (int32_t)S2))
  PULP(p_clipur, clip(S1, 0, (int32_t)S2))
  PULP(p_mac, RD + S1 * S2)
  PULP(p_msu, RD - S1 * S2)

/* Six operand forms of one operation; immediates were broadcast by the decoder. */
#define SIMD(name, function)                                                \
  PULP(name##_h, function##_h(S1, S2))                                       \
  PULP(name##_b, function##_b(S1, S2))                                       \
  PULP(name##_sc_h, function##_h(S1, broadcast_h(S2)))                       \
  PULP(name##_sc_b, function##_b(S1, broadcast_b(S2)))                       \
  PULP(name##_sci_h, function##_h(S1, (uint32_t)ip->imm))                    \
  PULP(name##_sci_b, function##_b(S1, (uint32_t)ip->imm))

#define PACKED(X, name, kind, result) SIMD(pv_##name, lanes_##name)
  PACKED_IMG_OPS(PACKED, )
  SIMD(pv_dotup, dot_uu)
  SIMD(pv_dotusp, dot_us)
  SIMD(pv_dotsp, dot_ss)
  SIMD(pv_sdotup, RD + dot_uu)
  SIMD(pv_sdotusp, RD + dot_us)
  SIMD(pv_sdotsp, RD + dot_ss)

  PULP(pv_abs_h, lanes_abs_h(S1, 0))
  PULP(pv_abs_b, lanes_abs_b(S1, 0))
  PULP(pv_extract_h, (uint32_t)(int16_t)(S1 >> ip->imm))
  PULP(pv_extract_b, (uint32_t)(int8_t)(S1 >> ip->imm))
  PULP(pv_extractu_h, (uint16_t)(S1 >> ip->imm))
  PULP(pv_extractu_b, (uint8_t)(S1 >> ip->imm))
  PULP(pv_insert_h, (RD & ~(0xffffu << ip->imm)) | (S1 & 0xffffu) << ip->imm)
  PULP(pv_insert_b, (RD & ~(0xffu << ip->imm)) | (S1 & 0xffu) << ip->imm)
  PULP(pv_shuffle2_h, shuffle2(S1, S2, RD, 2))
  PULP(pv_shuffle2_b, shuffle2(S1, S2, RD, 4))
  PULP(pv_pack_h, S1 << 16 | (S2 & 0xffffu))
