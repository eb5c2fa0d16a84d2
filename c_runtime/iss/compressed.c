/* SPDX-License-Identifier: Apache-2.0
 *
 * Compressed instructions become their 32-bit twins at decode time, so every operation has one handler. */
#include "platform.h"

static uint32_t bits(uint32_t word, int high, int low) { return (word >> low) & ((1u << (high - low + 1)) - 1); }

static uint32_t sign(uint32_t value, int width) { return (uint32_t)((int32_t)(value << (32 - width)) >> (32 - width)); }

static uint32_t i_type(uint32_t imm, uint32_t rs1, uint32_t f3, uint32_t rd, uint32_t opcode) {
  return (imm & 0xfff) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static uint32_t s_type(uint32_t imm, uint32_t rs2, uint32_t rs1, uint32_t f3, uint32_t opcode) {
  return bits(imm, 11, 5) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | bits(imm, 4, 0) << 7 | opcode;
}

static uint32_t r_type(uint32_t f7, uint32_t rs2, uint32_t rs1, uint32_t f3, uint32_t rd) {
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33;
}

static uint32_t b_type(uint32_t offset, uint32_t rs1, uint32_t f3) {
  return bits(offset, 12, 12) << 31 | bits(offset, 10, 5) << 25 | rs1 << 15 | f3 << 12 | bits(offset, 4, 1) << 8 |
         bits(offset, 11, 11) << 7 | 0x63;
}

static uint32_t j_type(uint32_t offset, uint32_t rd) {
  return bits(offset, 20, 20) << 31 | bits(offset, 10, 1) << 21 | bits(offset, 11, 11) << 20 |
         bits(offset, 19, 12) << 12 | rd << 7 | 0x6f;
}

static uint32_t quadrant_0(uint32_t h, int has_float) {
  uint32_t rd = 8 + bits(h, 4, 2), rs1 = 8 + bits(h, 9, 7);
  uint32_t word_offset = bits(h, 12, 10) << 3 | bits(h, 6, 6) << 2 | bits(h, 5, 5) << 6;
  switch (bits(h, 15, 13)) {
    case 0: {
      uint32_t imm = bits(h, 12, 11) << 4 | bits(h, 10, 7) << 6 | bits(h, 6, 6) << 2 | bits(h, 5, 5) << 3;
      return imm ? i_type(imm, 2, 0, rd, 0x13) : 0;
    }
    case 2: return i_type(word_offset, rs1, 2, rd, 0x03);
    case 3: return has_float ? i_type(word_offset, rs1, 2, rd, 0x07) : 0;
    case 6: return s_type(word_offset, rd, rs1, 2, 0x23);
    case 7: return has_float ? s_type(word_offset, rd, rs1, 2, 0x27) : 0;
    default: return 0;
  }
}

static uint32_t quadrant_1(uint32_t h) {
  uint32_t rd = bits(h, 11, 7), small = 8 + bits(h, 9, 7);
  uint32_t imm = sign(bits(h, 12, 12) << 5 | bits(h, 6, 2), 6);
  uint32_t jump = sign(bits(h, 12, 12) << 11 | bits(h, 11, 11) << 4 | bits(h, 10, 9) << 8 | bits(h, 8, 8) << 10 |
                           bits(h, 7, 7) << 6 | bits(h, 6, 6) << 7 | bits(h, 5, 3) << 1 | bits(h, 2, 2) << 5,
                       12);
  uint32_t branch = sign(bits(h, 12, 12) << 8 | bits(h, 11, 10) << 3 | bits(h, 6, 5) << 6 | bits(h, 4, 3) << 1 |
                             bits(h, 2, 2) << 5,
                         9);
  switch (bits(h, 15, 13)) {
    case 0: return i_type(imm, rd, 0, rd, 0x13);
    case 1: return j_type(jump, 1);
    case 2: return i_type(imm, 0, 0, rd, 0x13);
    case 3:
      if (rd == 2) {
        uint32_t adjust = sign(bits(h, 12, 12) << 9 | bits(h, 6, 6) << 4 | bits(h, 5, 5) << 6 | bits(h, 4, 3) << 7 |
                                   bits(h, 2, 2) << 5,
                               10);
        return adjust ? i_type(adjust, 2, 0, 2, 0x13) : 0;
      }
      return imm ? (imm & 0xfffff) << 12 | rd << 7 | 0x37 : 0;
    case 4:
      switch (bits(h, 11, 10)) {
        case 0: return bits(h, 12, 12) ? 0 : i_type(bits(h, 6, 2), small, 5, small, 0x13);
        case 1: return bits(h, 12, 12) ? 0 : i_type(0x400 | bits(h, 6, 2), small, 5, small, 0x13);
        case 2: return i_type(imm, small, 7, small, 0x13);
        default: {
          uint32_t other = 8 + bits(h, 4, 2);
          if (bits(h, 12, 12)) return 0;
          switch (bits(h, 6, 5)) {
            case 0: return r_type(0x20, other, small, 0, small);
            case 1: return r_type(0, other, small, 4, small);
            case 2: return r_type(0, other, small, 6, small);
            default: return r_type(0, other, small, 7, small);
          }
        }
      }
    case 5: return j_type(jump, 0);
    case 6: return b_type(branch, small, 0);
    default: return b_type(branch, small, 1);
  }
}

static uint32_t quadrant_2(uint32_t h, int has_float) {
  uint32_t rd = bits(h, 11, 7), rs2 = bits(h, 6, 2);
  uint32_t load = bits(h, 12, 12) << 5 | bits(h, 6, 4) << 2 | bits(h, 3, 2) << 6;
  uint32_t store = bits(h, 12, 9) << 2 | bits(h, 8, 7) << 6;
  switch (bits(h, 15, 13)) {
    case 0: return bits(h, 12, 12) ? 0 : i_type(rs2, rd, 1, rd, 0x13);
    case 2: return rd ? i_type(load, 2, 2, rd, 0x03) : 0;
    case 3: return has_float ? i_type(load, 2, 2, rd, 0x07) : 0;
    case 4:
      if (!bits(h, 12, 12)) {
        if (rs2) return r_type(0, rs2, 0, 0, rd);
        return rd ? i_type(0, rd, 0, 0, 0x67) : 0;
      }
      if (rs2) return r_type(0, rs2, rd, 0, rd);
      return rd ? i_type(0, rd, 0, 1, 0x67) : 0x00100073;
    case 6: return s_type(store, rs2, 2, 2, 0x23);
    case 7: return has_float ? s_type(store, rs2, 2, 2, 0x27) : 0;
    default: return 0;
  }
}

/* The 32-bit twin, or 0 for an encoding that is reserved. */
uint32_t expand_compressed(uint32_t half, int has_float) {
  switch (half & 3) {
    case 0: return quadrant_0(half, has_float);
    case 1: return quadrant_1(half);
    default: return quadrant_2(half, has_float);
  }
}
