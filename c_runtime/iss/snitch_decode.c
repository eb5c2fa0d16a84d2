/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills slots with RV32IMA and Xdma: the base set is decoded by decode.c, the rest here. `cost` of a slot is the mask of
 * registers that its instruction reads or writes. */
#include <string.h>

#include "snitch.h"

#define SNITCH_FLAGS(name) [SNITCH_OP_##name] = READS_1 | READS_2 | WRITES_X,
const uint16_t snitch_flags[SNITCH_OP_COUNT] = {SNITCH_OPS(SNITCH_FLAGS)};
#undef SNITCH_FLAGS

static uint32_t decode_atomic(uint32_t word) {
  if ((word >> 12 & 7) != 2) return OP_illegal;
  switch (word >> 27) {
    case 0x00: return SNITCH_OP_amoadd_w;
    case 0x01: return SNITCH_OP_amoswap_w;
    case 0x02: return word >> 20 & 31 ? OP_illegal : SNITCH_OP_lr_w;
    case 0x03: return SNITCH_OP_sc_w;
    case 0x04: return SNITCH_OP_amoxor_w;
    case 0x08: return SNITCH_OP_amoor_w;
    case 0x0c: return SNITCH_OP_amoand_w;
    case 0x10: return SNITCH_OP_amomin_w;
    case 0x14: return SNITCH_OP_amomax_w;
    case 0x18: return SNITCH_OP_amominu_w;
    case 0x1c: return SNITCH_OP_amomaxu_w;
    default: return OP_illegal;
  }
}

/* Fields that an instruction does not have must be 0. */
static uint32_t decode_dma(uint32_t word) {
  uint32_t rd = word >> 7 & 31, rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;
  if (word >> 12 & 7) return OP_illegal;
  switch (word >> 25) {
    case 0: return rd ? OP_illegal : SNITCH_OP_dmsrc;
    case 1: return rd ? OP_illegal : SNITCH_OP_dmdst;
    case 2: return SNITCH_OP_dmcpyi;
    case 3: return SNITCH_OP_dmcpy;
    case 4: return rs1 ? OP_illegal : SNITCH_OP_dmstati;
    case 5: return rs1 ? OP_illegal : SNITCH_OP_dmstat;
    case 6: return rd ? OP_illegal : SNITCH_OP_dmstr;
    case 7: return rd || rs2 ? OP_illegal : SNITCH_OP_dmrep;
    default: return OP_illegal;
  }
}

static uint32_t register_mask(const struct slot *slot, uint32_t flags) {
  uint32_t mask = 0;
  if (flags & READS_1) mask |= 1u << (slot->rs1 & 31);
  if (flags & READS_2) mask |= 1u << (slot->rs2 & 31);
  if ((flags & READS_D) && slot->rd < 32) mask |= 1u << slot->rd;
  if ((flags & WRITES_X) && slot->rd < 32) mask |= 1u << slot->rd;
  return mask & ~1u;
}

static uint32_t flags_of(uint32_t op) { return op < OP_COUNT ? op_flags[op] : snitch_flags[op]; }

static void decode(const struct platform *platform, uint32_t word, struct slot *slot) {
  uint32_t opcode = word & 0x7f, op;
  decode_word(platform, word, slot);
  op = slot->op;
  if ((word & 3) != 3) op = OP_illegal; /* no compressed code */
  if (opcode == 0x2f) op = decode_atomic(word);
  if (opcode == 0x2b && !platform->pool) op = decode_dma(word);
  /* Two upper halves in one word take the place of an operation that cores in tiles do not have. */
  if (platform->pool && op == OP_pv_packhi_b) op = OP_illegal;
  if (platform->pool && platform->config.cluster_isa_xpulp && opcode == 0x57 && word >> 25 == 0x69 && !(word >> 12 & 7))
    op = OP_pv_packhi_b;
  if (op >= OP_COUNT) {
    slot->imm = 0;
    if (!slot->rd) slot->rd = DISCARD;
  }
  slot->op = (uint16_t)op;
  slot->inner = platform->snitch->handlers[op];
  if (!slot->inner) { /* an operation of other cores */
    slot->op = OP_illegal;
    slot->inner = platform->snitch->handlers[OP_illegal];
  }
  slot->step = 2 * sizeof(struct slot);
  slot->cost = register_mask(slot, flags_of(slot->op));
  /* What stands in the register field is a number there. */
  if (op == SNITCH_OP_dmcpyi || op == SNITCH_OP_dmstati) slot->cost = register_mask(slot, READS_1 | WRITES_X);
}

static int is_branch(uint32_t op) {
  return op == OP_jal || (op >= OP_beq && op <= OP_bgeu) || op == OP_p_beqimm || op == OP_p_bneimm;
}

static void refuse(const struct platform *platform, struct slot *slot) {
  slot->op = OP_illegal;
  slot->inner = slot->handler = platform->snitch->handlers[OP_illegal];
  slot->step = 2 * sizeof(struct slot);
}

/* Decode from `head` to the end of its straight-line block: a jump or a border of 512 bytes. */
void snitch_decode_block(struct hart *hart, struct slot *head) {
  enum { BORDER = SNITCH_LINE_SLOTS * SNITCH_BORDER_LINES };
  struct platform *platform = hart->platform;
  struct code_region *region = &platform->region[hart->region];
  uint32_t first = (uint32_t)(head - region->slots), index = first, last = first;
  for (;;) {
    struct slot *slot = region->slots + index;
    uint32_t word;
    last = index;
    if (index % 2 || index * 2 + 4 > region->bytes) {
      refuse(platform, slot);
      break;
    }
    memcpy(&word, region->memory + index * 2, 4);
    if (slot->op == OP_decode) {
      decode(platform, word, slot);
      if (is_branch(slot->op)) {
        int64_t target = (int64_t)index + slot->imm;
        if (target < 0 || target % 2 || target >= (int64_t)(region->bytes / 2)) refuse(platform, slot);
      }
      if (index % BORDER == 0) slot->wrap |= WRAP_BOUNDARY;
      slot->handler = slot->wrap ? platform->snitch->handlers[OP_wrapped] : slot->inner;
    }
    if (flags_of(slot->op) & JUMPS) break;
    index += 2;
    if (index / BORDER != first / BORDER) break;
  }
  if (first < region->low) region->low = first;
  if (last + 2 > region->high) region->high = last + 2;
  for (index = first; index <= last; index += 2)
    region->slots[index].lines = (uint8_t)(last / SNITCH_LINE_SLOTS - index / SNITCH_LINE_SLOTS + 1);
}
