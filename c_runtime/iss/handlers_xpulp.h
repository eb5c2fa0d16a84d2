/* SPDX-License-Identifier: Apache-2.0
 *
 * What XpulpV2 has beside handlers_xpulpimg.h: scalar operations and hardware loops. Included inside execute(). */

/* The loop distance counts half-words from this instruction. Loop registers change rarely: helpers in loops.h. */
op_lp_starti:
  SAVE();
  set_loop_start(h, ip->rd, hart_pc(h) + 2u * (uint32_t)ip->imm);
  NEXT();
op_lp_endi:
  SAVE();
  set_loop_end(h, ip->rd, hart_pc(h) + 2u * (uint32_t)ip->imm);
  NEXT();
op_lp_count:
  h->loop[ip->rd].count = S1;
  NEXT();
op_lp_counti:
  h->loop[ip->rd].count = (uint32_t)ip->imm;
  NEXT();
op_lp_setup:
  SAVE();
  set_loop_start(h, ip->rd, hart_pc(h) + 4);
  set_loop_end(h, ip->rd, hart_pc(h) + 2u * (uint32_t)ip->imm);
  h->loop[ip->rd].count = S1;
  NEXT();
op_lp_setupi:
  SAVE();
  set_loop_start(h, ip->rd, hart_pc(h) + 4);
  set_loop_end(h, ip->rd, hart_pc(h) + 2u * ip->rs2);
  h->loop[ip->rd].count = (uint32_t)ip->imm;
  NEXT();

  ALU(p_ror, S1 >> (S2 & 31) | S1 << ((32 - (S2 & 31)) & 31))
  ALU(p_ff1, S1 ? (uint32_t)__builtin_ctz(S1) : 32)
  ALU(p_fl1, S1 ? 31u - (uint32_t)__builtin_clz(S1) : 32)
  ALU(p_clb, count_leading_sign_bits(S1))
  ALU(p_cnt, (uint32_t)__builtin_popcount(S1))

  ALU(p_extract, extract_signed(S1, (uint32_t)ip->imm))
  ALU(p_extractu, extract_unsigned(S1, (uint32_t)ip->imm))
  ALU(p_insert, insert_field(RD, S1, (uint32_t)ip->imm))
  ALU(p_bclr, S1 & ~field_mask((uint32_t)ip->imm))
  ALU(p_bset, S1 | field_mask((uint32_t)ip->imm))
  ALU(p_extractr, extract_signed(S1, S2))
  ALU(p_extractur, extract_unsigned(S1, S2))
  ALU(p_insertr, insert_field(RD, S1, S2))
  ALU(p_bclrr, S1 & ~field_mask(S2))
  ALU(p_bsetr, S1 | field_mask(S2))

#define LOW_S(v) (uint32_t)(int32_t)(int16_t)(v)
#define HIGH_S(v) (uint32_t)((int32_t)(v) >> 16)
#define LOW_U(v) ((v)&0xffffu)
#define HIGH_U(v) ((v) >> 16)
  ALU(p_muls, round_shift_signed(LOW_S(S1) * LOW_S(S2), ip->imm))
  ALU(p_mulhhs, round_shift_signed(HIGH_S(S1) * HIGH_S(S2), ip->imm))
  ALU(p_mulu, round_shift_unsigned(LOW_U(S1) * LOW_U(S2), ip->imm))
  ALU(p_mulhhu, round_shift_unsigned(HIGH_U(S1) * HIGH_U(S2), ip->imm))
  ALU(p_macs, round_shift_signed(RD + LOW_S(S1) * LOW_S(S2), ip->imm))
  ALU(p_machhs, round_shift_signed(RD + HIGH_S(S1) * HIGH_S(S2), ip->imm))
  ALU(p_macu, round_shift_unsigned(RD + LOW_U(S1) * LOW_U(S2), ip->imm))
  ALU(p_machhu, round_shift_unsigned(RD + HIGH_U(S1) * HIGH_U(S2), ip->imm))
  ALU(p_addn, round_shift_signed(S1 + S2, ip->imm))
  ALU(p_addun, round_shift_unsigned(S1 + S2, ip->imm))
  ALU(p_subn, round_shift_signed(S1 - S2, ip->imm))
  ALU(p_subun, round_shift_unsigned(S1 - S2, ip->imm))
#define REGISTER_SHIFT ((ip->imm & 32) | (int32_t)(S2 & 31))
  ALU(p_addnr, round_shift_signed(RD + S1, REGISTER_SHIFT))
  ALU(p_addunr, round_shift_unsigned(RD + S1, REGISTER_SHIFT))
  ALU(p_subnr, round_shift_signed(RD - S1, REGISTER_SHIFT))
  ALU(p_subunr, round_shift_unsigned(RD - S1, REGISTER_SHIFT))
