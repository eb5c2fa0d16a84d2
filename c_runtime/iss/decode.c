/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills slots, one straight-line block at a time. Whatever depends only on the code is settled here: operands,
 * stalls caused by the next instruction, and how many cache lines the block touches. */
#include "decode_xpulp.h"
#include "loops.h"
#include "snitch.h"

#include <string.h>

#define OP_FLAGS(name, flags) [OP_##name] = flags,
const uint16_t op_flags[OP_COUNT] = {ALL_OPS(OP_FLAGS)};
#undef OP_FLAGS

static int32_t sign(uint32_t value, int width) { return (int32_t)(value << (32 - width)) >> (32 - width); }
static int32_t imm_i(uint32_t w) { return (int32_t)w >> 20; }
static int32_t imm_s(uint32_t w) { return sign((w >> 25) << 5 | ((w >> 7) & 31), 12); }
static int32_t imm_b(uint32_t w) {
  return sign((w >> 31) << 12 | ((w >> 7) & 1) << 11 | ((w >> 25) & 63) << 5 | ((w >> 8) & 15) << 1, 13);
}
static int32_t imm_j(uint32_t w) {
  return sign((w >> 31) << 20 | ((w >> 12) & 255) << 12 | ((w >> 20) & 1) << 11 | ((w >> 21) & 1023) << 1, 21);
}

static enum op decode_integer(uint32_t word, int xpulp, struct slot *out) {
  static const enum op base[] = {OP_add, OP_sll, OP_slt, OP_sltu, OP_xor, OP_srl, OP_or, OP_and};
  static const enum op multiply[] = {OP_mul, OP_mulh, OP_mulhsu, OP_mulhu, OP_div, OP_divu, OP_rem, OP_remu};
  uint32_t f3 = (word >> 12) & 7;
  switch (word >> 25) {
    case 0x00: return base[f3];
    case 0x01: return multiply[f3];
    case 0x20: return f3 == 0 ? OP_sub : f3 == 5 ? OP_sra : OP_illegal;
    default: return xpulp ? decode_scalar(word, out) : OP_illegal;
  }
}

static enum op decode_immediate(uint32_t word, struct slot *out) {
  static const enum op ops[] = {OP_addi, OP_slli, OP_slti, OP_sltiu, OP_xori, OP_srli, OP_ori, OP_andi};
  uint32_t f3 = (word >> 12) & 7, f7 = word >> 25;
  out->imm = imm_i(word);
  if (f3 == 1 || f3 == 5) {
    out->imm &= 31;
    if (f3 == 5 && f7 == 0x20) return OP_srai;
    if (f7 != 0) return OP_illegal;
  }
  return ops[f3];
}

static enum op decode_system(uint32_t word, struct slot *out) {
  static const enum op ops[] = {OP_illegal, OP_csrrw, OP_csrrs, OP_csrrc, OP_illegal, OP_csrrwi, OP_csrrsi, OP_csrrci};
  out->imm = (int32_t)(word >> 20);
  switch (word) {
    case 0x00000073: return OP_ecall;
    case 0x00100073: return OP_ebreak;
    case 0x10500073: return OP_wfi;
    case 0x30200073: return OP_mret;
    default: return ops[(word >> 12) & 7];
  }
}

/* Rounding mode goes to imm; a reserved one makes the instruction illegal. */
static int rounding_is_legal(uint32_t word, struct slot *out) {
  uint32_t rm = (word >> 12) & 7;
  out->imm = (int32_t)rm;
  return rm != 5 && rm != 6;
}

static enum op decode_float(uint32_t word, struct slot *out) {
  uint32_t f3 = (word >> 12) & 7, rs2 = (word >> 20) & 31;
  switch (word >> 25) {
    case 0x00: return rounding_is_legal(word, out) ? OP_fadd_s : OP_illegal;
    case 0x04: return rounding_is_legal(word, out) ? OP_fsub_s : OP_illegal;
    case 0x08: return rounding_is_legal(word, out) ? OP_fmul_s : OP_illegal;
    case 0x0c: return rounding_is_legal(word, out) ? OP_fdiv_s : OP_illegal;
    case 0x2c: return rs2 == 0 && rounding_is_legal(word, out) ? OP_fsqrt_s : OP_illegal;
    case 0x10: return f3 == 0 ? OP_fsgnj_s : f3 == 1 ? OP_fsgnjn_s : f3 == 2 ? OP_fsgnjx_s : OP_illegal;
    case 0x14: return f3 == 0 ? OP_fmin_s : f3 == 1 ? OP_fmax_s : OP_illegal;
    case 0x50: return f3 == 0 ? OP_fle_s : f3 == 1 ? OP_flt_s : f3 == 2 ? OP_feq_s : OP_illegal;
    case 0x60:
      if (!rounding_is_legal(word, out)) return OP_illegal;
      return rs2 == 0 ? OP_fcvt_w_s : rs2 == 1 ? OP_fcvt_wu_s : OP_illegal;
    case 0x68:
      if (!rounding_is_legal(word, out)) return OP_illegal;
      return rs2 == 0 ? OP_fcvt_s_w : rs2 == 1 ? OP_fcvt_s_wu : OP_illegal;
    case 0x70: return rs2 ? OP_illegal : f3 == 0 ? OP_fmv_x_w : f3 == 1 ? OP_fclass_s : OP_illegal;
    case 0x78: return rs2 == 0 && f3 == 0 ? OP_fmv_w_x : OP_illegal;
    default: return OP_illegal;
  }
}

static enum op decode_branch(uint32_t word, int xpulp, struct slot *out) {
  static const enum op ops[] = {OP_beq, OP_bne, OP_p_beqimm, OP_p_bneimm, OP_blt, OP_bge, OP_bltu, OP_bgeu};
  uint32_t f3 = (word >> 12) & 7;
  out->imm = imm_b(word) / 2;
  return (f3 == 2 || f3 == 3) && !xpulp ? OP_illegal : ops[f3];
}

static enum op decode_load(uint32_t word, int xpulp, struct slot *out) {
  static const enum op ops[] = {OP_lb, OP_lh, OP_lw, OP_illegal, OP_lbu, OP_lhu, OP_p_elw, OP_illegal};
  uint32_t f3 = (word >> 12) & 7;
  out->imm = imm_i(word);
  if (f3 == 7) return xpulp ? decode_register_load(word, 0) : OP_illegal;
  return f3 == 6 && !xpulp ? OP_illegal : ops[f3];
}

static enum op decode_store(uint32_t word, int xpulp, struct slot *out) {
  static const enum op ops[] = {OP_sb, OP_sh, OP_sw};
  uint32_t f3 = (word >> 12) & 7;
  out->imm = imm_s(word);
  if (f3 < 3) return ops[f3];
  return xpulp ? decode_register_store(word, 0) : OP_illegal;
}

static enum op decode_opcode(uint32_t word, int xpulp, int has_float, struct slot *out) {
  static const enum op fused[] = {OP_fmadd_s, OP_fmsub_s, OP_fnmsub_s, OP_fnmadd_s};
  uint32_t f3 = (word >> 12) & 7;
  switch (word & 0x7f) {
    case 0x03: return decode_load(word, xpulp, out);
    case 0x07: out->imm = imm_i(word); return has_float && f3 == 2 ? OP_flw : OP_illegal;
    case 0x0b: out->imm = imm_i(word); return xpulp ? decode_post_load(word) : OP_illegal;
    case 0x0f: return f3 == 0 ? OP_fence : f3 == 1 ? OP_fence_i : OP_illegal;
    case 0x13: return decode_immediate(word, out);
    case 0x17: out->imm = (int32_t)(word & 0xfffff000); return OP_auipc;
    case 0x23: return decode_store(word, xpulp, out);
    case 0x27: out->imm = imm_s(word); return has_float && f3 == 2 ? OP_fsw : OP_illegal;
    case 0x2b: out->imm = imm_s(word); return xpulp ? decode_post_store(word) : OP_illegal;
    case 0x33: return decode_integer(word, xpulp, out);
    case 0x37: out->imm = (int32_t)(word & 0xfffff000); return OP_lui;
    case 0x43: case 0x47: case 0x4b: case 0x4f:
      out->post = (uint8_t)(word >> 27); /* rs3 */
      if (!has_float || ((word >> 25) & 3) != 0 || !rounding_is_legal(word, out)) return OP_illegal;
      return fused[(word >> 2) & 3];
    case 0x53: return has_float ? decode_float(word, out) : OP_illegal;
    case 0x57: return xpulp ? decode_simd(word, out) : OP_illegal;
    case 0x5b: return xpulp ? decode_multiply(word, out) : OP_illegal;
    case 0x63: return decode_branch(word, xpulp, out);
    case 0x67: out->imm = imm_i(word); return f3 == 0 ? OP_jalr : OP_illegal;
    case 0x6f: out->imm = imm_j(word) / 2; return OP_jal;
    case 0x73: return decode_system(word, out);
    case 0x7b: return xpulp ? decode_hardware_loop(word, out) : OP_illegal;
    default: return OP_illegal;
  }
}

/* Decode one instruction without its surroundings. `mark` and `wrap` of the slot are left alone. */
void decode_word(const struct platform *platform, uint32_t word, struct slot *out) {
  /* Slots are shared by all harts: a hart without floating point refuses these operations when it executes them. */
  int has_float = platform->config.cluster_isa_single_float || platform->config.controller_isa_single_float;
  int compressed = (word & 3) != 3;
  uint32_t full = compressed ? expand_compressed(word & 0xffff, has_float) : word;
  enum op op;
  out->step = (uint8_t)((compressed ? 1 : 2) * sizeof(struct slot));
  out->word = compressed ? word & 0xffff : word;
  out->rd = (full >> 7) & 31;
  out->rs1 = (full >> 15) & 31;
  out->rs2 = (full >> 20) & 31;
  out->post = out->rs1 ? out->rs1 : DISCARD;
  out->imm = 0;
  out->stall = 0;
  op = full ? decode_opcode(full, platform->config.cluster_isa_xpulp != 0, has_float, out) : OP_illegal;
  if (platform->snitch) op = snitch_decode(platform, word, op);
  if (!platform->handlers[op]) op = OP_illegal; /* an operation of other cores */
  out->op = (uint16_t)op;
  out->inner = platform->handlers[op];
  if (out->rd == 0 && (op_flags[op] & WRITES_X)) out->rd = DISCARD;
  out->cost = 1;
  if (op == OP_mul) out->cost = (uint32_t)platform->config.timing_mul;
  if (op == OP_mulh || op == OP_mulhsu || op == OP_mulhu)
    out->cost = (uint32_t)platform->config.timing_mulh;
  if (op_flags[op] & FP_OP) out->cost = (uint32_t)platform->config.timing_single_float;
  if (op == OP_fdiv_s) out->cost = (uint32_t)platform->config.timing_float_divide;
  if (op == OP_fsqrt_s) out->cost = (uint32_t)platform->config.timing_float_square_root;
}

int op_reads(const struct slot *slot, uint32_t reg, int is_float) {
  uint32_t flags = op_flags[slot->op];
  if (is_float)
    return ((flags & READS_F1) && slot->rs1 == reg) || ((flags & READS_F2) && slot->rs2 == reg) ||
           ((flags & READS_F3) && slot->post == reg);
  if (reg == 0 || reg == DISCARD) return 0;
  return ((flags & READS_1) && slot->rs1 == reg) || ((flags & READS_2) && slot->rs2 == reg) ||
         ((flags & READS_D) && slot->rd == reg);
}

static int fetch_word(const struct code_region *region, uint32_t offset, uint32_t *word) {
  uint16_t half[2] = {0, 0};
  if (offset + 2 > region->bytes) return 0;
  memcpy(&half[0], region->memory + offset, 2);
  *word = half[0];
  if ((half[0] & 3) != 3) return 1;
  if (offset + 4 > region->bytes) return 0;
  memcpy(&half[1], region->memory + offset + 2, 2);
  *word |= (uint32_t)half[1] << 16;
  return 1;
}

static void refuse(const struct platform *platform, struct slot *slot) {
  slot->op = OP_illegal;
  slot->inner = slot->handler = platform->handlers[OP_illegal];
}

/* Stalls that the instruction suffers because of its successor. */
static void apply_successor(struct hart *hart, struct slot *slot, uint32_t offset) {
  const struct platform *platform = hart->platform;
  const struct code_region *region = &platform->region[hart->region];
  uint32_t flags = op_flags[slot->op], word, stall = 0;
  struct slot next;
  if ((flags & JUMPS) || !fetch_word(region, offset + SLOT_LENGTH(slot) * 2, &word)) return;
  decode_word(platform, word, &next);
  if (flags & (LOADS_X | LOADS_F)) {
    if (op_reads(&next, slot->rd, (flags & LOADS_F) != 0)) stall = (uint32_t)platform->config.timing_load_use_stall;
  } else if (flags & MULTIPLIES) {
    if (op_reads(&next, slot->rd, 0)) stall = (uint32_t)platform->config.timing_mul_use_stall;
  }
  slot->stall = (uint16_t)stall;
  slot->cost += stall;
  if (next.op == OP_jalr && (flags & WRITES_X) && !(flags & LOADS_X) && next.rs1 == slot->rd && slot->rd != DISCARD)
    slot[SLOT_LENGTH(slot)].mark = MARK_HAZARD;
}

static void choose_handler(const struct platform *platform, struct slot *slot, uint32_t index) {
  uint32_t first_in_boundary = index % BOUNDARY_SLOTS;
  /* The first instruction that starts in a 512-byte stretch; an instruction may straddle the border. */
  if (first_in_boundary == 0 || (first_in_boundary == 1 && slot[-1].op == OP_decode)) slot->wrap |= WRAP_BOUNDARY;
  if (platform->count_compressed && SLOT_LENGTH(slot) == 1) slot->wrap |= WRAP_COMPRESSED;
  if (!slot->wrap && (op_flags[slot->op] & ACCESSES)) slot->mark = MARK_ACCESS;
  slot->handler = slot->wrap ? platform->handlers[OP_wrapped] : slot->inner;
}

static int has_target(uint32_t op) {
  return op == OP_jal || (op >= OP_beq && op <= OP_bgeu) || op == OP_p_beqimm || op == OP_p_bneimm;
}

/* Targets are not checked when a branch is taken, so a branch that could leave its memory is refused as a whole. */
static int leaves_memory(const struct code_region *region, const struct slot *slot, uint32_t index, uint32_t length) {
  int64_t target = (int64_t)index + slot->imm;
  return target < 0 || target >= (int64_t)(region->bytes / 2) || target % length;
}

/* Decode from `head` to the end of its straight-line block: a jump, a loop end, or a 512-byte border. */
void decode_block(struct hart *hart, struct slot *head) {
  struct platform *platform = hart->platform;
  struct code_region *region = &platform->region[hart->region];
  uint32_t first = (uint32_t)(head - region->slots), index = first, end = first, last = first, fetched;
  uint32_t shortest = platform->snitch ? 2 : 1, line = platform->line_slots; /* no compressed code there */
  for (;;) {
    struct slot *slot = region->slots + index;
    uint32_t word;
    if (index % shortest || !fetch_word(region, index * 2, &word)) {
      refuse(platform, slot);
      slot->step = (uint8_t)(shortest * sizeof(struct slot));
      slot->lines = 1;
      break;
    }
    if (slot->op == OP_decode) {
      decode_word(platform, word, slot);
      if (has_target(slot->op) && leaves_memory(region, slot, index, shortest)) refuse(platform, slot);
      if (platform->snitch) slot->cost = snitch_registers(slot);
      else apply_successor(hart, slot, index * 2);
      choose_handler(platform, slot, index);
    }
    end = index;
    last = index + SLOT_LENGTH(slot) - 1;
    if ((op_flags[slot->op] & JUMPS) || (slot->wrap & WRAP_LOOP_END)) break;
    index += SLOT_LENGTH(slot);
    if (index / BOUNDARY_SLOTS != first / BOUNDARY_SLOTS) break;
  }
  if (first < region->low) region->low = first;
  if (last + 2 > region->high) region->high = last + 2;
  /* The fetch unit asks for four bytes, whatever the length of an instruction. */
  fetched = end + 1 > last ? end + 1 : last;
  for (index = first; index <= last; index += SLOT_LENGTH(&region->slots[index]))
    region->slots[index].lines = (uint8_t)(fetched / line - index / line + 1);
  if (!platform->snitch) join_runs(platform, region->slots + first, region->slots + last);
}
