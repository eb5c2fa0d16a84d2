/* SPDX-License-Identifier: Apache-2.0
 *
 * XpulpV2 in its legacy (RI5CY) encodings. Every function returns the operation, or OP_illegal. */
#include "decode_xpulp.h"

static uint32_t f3_of(uint32_t word) { return (word >> 12) & 7; }
static uint32_t f7_of(uint32_t word) { return word >> 25; }
static uint32_t rs2_of(uint32_t word) { return (word >> 20) & 31; }

/* Width code of register-offset loads in f7: lb, lh, lw, lbu, lhu. */
static int load_index(uint32_t f7) {
  switch (f7) {
    case 0x00: return 0;
    case 0x08: return 1;
    case 0x10: return 2;
    case 0x20: return 3;
    case 0x28: return 4;
    default: return -1;
  }
}

enum op decode_register_load(uint32_t word, int post) {
  static const enum op plain[] = {OP_p_lb_reg, OP_p_lh_reg, OP_p_lw_reg, OP_p_lbu_reg, OP_p_lhu_reg};
  static const enum op increment[] = {OP_p_lb_post_reg, OP_p_lh_post_reg, OP_p_lw_post_reg, OP_p_lbu_post_reg,
                                      OP_p_lhu_post_reg};
  int index = load_index(f7_of(word));
  if (index < 0) return OP_illegal;
  return post ? increment[index] : plain[index];
}

enum op decode_post_load(uint32_t word) {
  static const enum op immediate[] = {OP_p_lb_post, OP_p_lh_post,  OP_p_lw_post,  OP_illegal,
                                      OP_p_lbu_post, OP_p_lhu_post, OP_illegal, OP_illegal};
  return f3_of(word) == 7 ? decode_register_load(word, 1) : immediate[f3_of(word)];
}

enum op decode_register_store(uint32_t word, int post) {
  if (f7_of(word) != 0) return OP_illegal;
  switch (f3_of(word)) {
    case 4: return post ? OP_p_sb_post_reg : OP_p_sb_reg;
    case 5: return post ? OP_p_sh_post_reg : OP_p_sh_reg;
    case 6: return post ? OP_p_sw_post_reg : OP_p_sw_reg;
    default: return OP_illegal;
  }
}

enum op decode_post_store(uint32_t word) {
  static const enum op immediate[] = {OP_p_sb_post, OP_p_sh_post, OP_p_sw_post};
  return f3_of(word) < 3 ? immediate[f3_of(word)] : decode_register_store(word, 1);
}

enum op decode_hardware_loop(uint32_t word, struct slot *slot) {
  static const enum op ops[] = {OP_lp_starti, OP_lp_endi,   OP_lp_count, OP_lp_counti,
                                OP_lp_setup,  OP_lp_setupi, OP_illegal,  OP_illegal};
  uint32_t f3 = f3_of(word);
  if ((word >> 8) & 15) return OP_illegal;
  slot->rd = (word >> 7) & 1;
  slot->imm = (int32_t)(word >> 20);
  if (f3 == 5) slot->rs2 = (uint8_t)((word >> 15) & 31); /* lp.setupi: imm counts, this is the distance */
  return ops[f3];
}

enum op decode_scalar(uint32_t word, struct slot *slot) {
  uint32_t f3 = f3_of(word), f7 = f7_of(word), field = rs2_of(word);
  if (f7 >> 5 == 3) { /* bit fields with immediate position and width */
    static const enum op ops[] = {OP_p_extract, OP_p_extractu, OP_p_insert, OP_p_bclr, OP_p_bset};
    slot->imm = (int32_t)(field | (f7 & 31) << 5);
    return f3 < 5 ? ops[f3] : OP_illegal;
  }
  switch (f7) {
    case 0x02: {
      static const enum op ops[] = {OP_p_abs, OP_illegal, OP_p_slet, OP_p_sletu,
                                    OP_p_min, OP_p_minu,  OP_p_max,  OP_p_maxu};
      return f3 == 0 && field ? OP_illegal : ops[f3];
    }
    case 0x04: return f3 == 5 ? OP_p_ror : OP_illegal;
    case 0x08: {
      static const enum op ops[] = {OP_p_ff1,   OP_p_fl1,   OP_p_clb,   OP_p_cnt,
                                    OP_p_exths, OP_p_exthz, OP_p_extbs, OP_p_extbz};
      return field ? OP_illegal : ops[f3];
    }
    case 0x0a:
      /* The immediate is turned into the upper bound; the lower bound of p.clip is -bound - 1. */
      slot->imm = field ? (int32_t)((1u << (field - 1)) - 1) : 0;
      switch (f3) {
        case 1: return OP_p_clip;
        case 2: return OP_p_clipu;
        case 5: return OP_p_clipr;
        case 6: return OP_p_clipur;
        default: return OP_illegal;
      }
    case 0x21: return f3 == 0 ? OP_p_mac : f3 == 1 ? OP_p_msu : OP_illegal;
    case 0x40: {
      static const enum op ops[] = {OP_p_extractr, OP_p_extractur, OP_p_insertr, OP_p_bclrr, OP_p_bsetr};
      return f3 < 5 ? ops[f3] : OP_illegal;
    }
    default: return OP_illegal;
  }
}

enum op decode_multiply(uint32_t word, struct slot *slot) {
  static const enum op products[] = {OP_p_mulu, OP_p_mulhhu, OP_p_muls, OP_p_mulhhs};
  static const enum op sums[] = {OP_p_macu, OP_p_machhu, OP_p_macs, OP_p_machhs};
  static const enum op adds[] = {OP_p_addn, OP_p_addnr, OP_p_addun, OP_p_addunr};
  static const enum op subs[] = {OP_p_subn, OP_p_subnr, OP_p_subun, OP_p_subunr};
  uint32_t f3 = f3_of(word), variant = word >> 30, shift = (word >> 25) & 31;
  slot->imm = (int32_t)(shift | (f3 & 4) << 3); /* bit 5: rounded */
  switch (f3 & 3) {
    case 0: return products[variant];
    case 1: return sums[variant];
    case 2: return (variant & 1) && shift ? OP_illegal : adds[variant];
    default: return (variant & 1) && shift ? OP_illegal : subs[variant];
  }
}

/* Operand forms in the order of SIMD_FORMS, from f3; -1 for f3 = 2, 3. */
static int simd_form(uint32_t f3) {
  static const int forms[] = {0, 1, -1, -1, 2, 3, 4, 5};
  return forms[f3];
}

static enum op simd_permute(uint32_t f5, uint32_t f3, uint32_t immediate, struct slot *slot) {
  int byte = f3 & 1;
  int is_vector = f3 < 2, is_immediate = f3 >= 6;
  if (f5 == 14 && is_vector) return slot->rs2 ? OP_illegal : byte ? OP_pv_abs_b : OP_pv_abs_h;
  if (f5 == 15 || f5 == 18 || f5 == 22) {
    if (!is_immediate) return OP_illegal;
    slot->imm = (int32_t)((immediate & (byte ? 3u : 1u)) * (byte ? 8 : 16)); /* bit position of the lane */
    if (f5 == 15) return byte ? OP_pv_extract_b : OP_pv_extract_h;
    if (f5 == 18) return byte ? OP_pv_extractu_b : OP_pv_extractu_h;
    return byte ? OP_pv_insert_b : OP_pv_insert_h;
  }
  if (f5 == 24 && is_vector) return byte ? OP_pv_shuffle_b : OP_pv_shuffle_h;
  if (f5 == 24 && f3 == 6) {
    slot->imm = (int32_t)immediate;
    return OP_pv_shuffle_sci_h;
  }
  if (f3 == 7 && (f5 == 24 || f5 >= 29)) { /* shuffleI0..I3: the highest lane is the number in the name */
    slot->imm = (int32_t)(immediate | (f5 == 24 ? 0 : f5 - 28) << 6);
    return OP_pv_shuffle_sci_b;
  }
  if (f5 == 25 && is_vector) return byte ? OP_pv_shuffle2_b : OP_pv_shuffle2_h;
  if (f5 == 26 && f3 == 0) return OP_pv_pack_h;
  if (f5 == 27 && f3 == 1) return OP_pv_packhi_b;
  if (f5 == 28 && f3 == 1) return OP_pv_packlo_b;
  return OP_illegal;
}

enum op decode_simd(uint32_t word, struct slot *slot) {
  /* First operation (the .h vector form) by f5; the six forms follow each other. */
  static const uint16_t arithmetic[] = {OP_pv_add_h,  OP_pv_sub_h,  OP_pv_avg_h, OP_pv_avgu_h, OP_pv_min_h,
                                        OP_pv_minu_h, OP_pv_max_h,  OP_pv_maxu_h, OP_pv_srl_h, OP_pv_sra_h,
                                        OP_pv_sll_h,  OP_pv_or_h,   OP_pv_xor_h, OP_pv_and_h};
  static const uint16_t compare[] = {OP_pv_cmpeq_h, OP_pv_cmpne_h, OP_pv_cmpgt_h,  OP_pv_cmpge_h,  OP_pv_cmplt_h,
                                     OP_pv_cmple_h, OP_pv_cmpgtu_h, OP_pv_cmpgeu_h, OP_pv_cmpltu_h, OP_pv_cmpleu_h};
  static const uint16_t dot[] = {OP_pv_dotup_h,  OP_pv_dotusp_h,  OP_illegal, OP_pv_dotsp_h,
                                 OP_pv_sdotup_h, OP_pv_sdotusp_h, OP_illegal, OP_pv_sdotsp_h};
  uint32_t f5 = word >> 27, f3 = f3_of(word);
  uint32_t immediate = rs2_of(word) << 1 | ((word >> 25) & 1);
  int form = simd_form(f3), is_compare = (word >> 26) & 1, is_unsigned;
  uint32_t first = OP_illegal;
  if (form < 0 || (form < 4 && ((word >> 25) & 1))) return OP_illegal;
  if (is_compare) {
    if (f5 < 10) first = compare[f5];
    is_unsigned = f5 >= 6;
  } else if (f5 < 14) {
    first = arithmetic[f5];
    is_unsigned = f5 == 3 || f5 == 5 || f5 == 7 || f5 == 8 || f5 == 10;
  } else if (f5 >= 16 && f5 < 24 && dot[f5 - 16] != OP_illegal) {
    first = dot[f5 - 16];
    is_unsigned = f5 == 16 || f5 == 20;
  } else {
    return simd_permute(f5, f3, immediate, slot);
  }
  if (first == OP_illegal) return OP_illegal;
  if (form >= 4) { /* broadcast the immediate once, here */
    uint32_t value = is_unsigned ? immediate : (uint32_t)((int32_t)(immediate << 26) >> 26);
    slot->imm = (int32_t)(form & 1 ? (value & 0xff) * 0x01010101u : (value & 0xffff) * 0x00010001u);
  }
  return (enum op)(first + (uint32_t)form);
}
