/* SPDX-License-Identifier: Apache-2.0
 *
 * What Snitch cores decode otherwise than decode.c: atomics, Xdma, no compressed code. */
#include "snitch.h"

static enum op decode_atomic(uint32_t word) {
  if ((word >> 12 & 7) != 2) return OP_illegal;
  switch (word >> 27) {
    case 0x00: return OP_amoadd_w;
    case 0x01: return OP_amoswap_w;
    case 0x02: return word >> 20 & 31 ? OP_illegal : OP_lr_w;
    case 0x03: return OP_sc_w;
    case 0x04: return OP_amoxor_w;
    case 0x08: return OP_amoor_w;
    case 0x0c: return OP_amoand_w;
    case 0x10: return OP_amomin_w;
    case 0x14: return OP_amomax_w;
    case 0x18: return OP_amominu_w;
    case 0x1c: return OP_amomaxu_w;
    default: return OP_illegal;
  }
}

/* Fields that an instruction does not have must be 0. */
static enum op decode_dma(uint32_t word) {
  uint32_t rd = word >> 7 & 31, rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;
  if (word >> 12 & 7) return OP_illegal;
  switch (word >> 25) {
    case 0: return rd ? OP_illegal : OP_dmsrc;
    case 1: return rd ? OP_illegal : OP_dmdst;
    case 2: return OP_dmcpyi;
    case 3: return OP_dmcpy;
    case 4: return rs1 ? OP_illegal : OP_dmstati;
    case 5: return rs1 ? OP_illegal : OP_dmstat;
    case 6: return rd ? OP_illegal : OP_dmstr;
    case 7: return rd || rs2 ? OP_illegal : OP_dmrep;
    default: return OP_illegal;
  }
}

enum op snitch_decode(const struct platform *platform, uint32_t word, enum op op) {
  uint32_t opcode = word & 0x7f;
  if ((word & 3) != 3) return OP_illegal;
  if (opcode == 0x2f) return decode_atomic(word);
  if (!platform->pool) return opcode == 0x2b ? decode_dma(word) : op;
  /* Two upper halves in one word take the place of an operation that cores in tiles do not have. */
  if (opcode == 0x57 && word >> 25 == 0x69 && !(word >> 12 & 7) && platform->config.cluster_isa_xpulp)
    return OP_pv_packhi_b;
  return op == OP_pv_packhi_b ? OP_illegal : op;
}

uint32_t snitch_registers(const struct slot *slot) {
  uint32_t flags = op_flags[slot->op], mask = 0;
  if (flags & READS_1) mask |= 1u << (slot->rs1 & 31);
  if (flags & READS_2) mask |= 1u << (slot->rs2 & 31);
  if ((flags & (READS_D | WRITES_X)) && slot->rd < 32) mask |= 1u << slot->rd;
  return mask & ~1u;
}
