/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "group_share.h"
#include "requantize_block.h"
#include "requantize_bytes.h"
#include "requantize_lines.h"
#include "requantize_row.h"
#include "shift_loop.h"
#include "to_even.h"
#include "tvm_pulp/plain/elementwise.h"

#define LOOP(LOAD, STEP, CLIP)                                                                   \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, STEP, "%[x]") FOUR_FINISH(CLIP) XP_END \
                   : FOUR_OUTPUTS, [x] "+r"(x)                                                   \
                   : FOUR_INPUTS                                                                 \
                   : "memory")
#define LOOPS(CLIP)                          \
  if (p->x_type == TVM_PULP_INT8) {          \
    LOOP(XP_LB, 1, CLIP);                    \
  } else if (p->x_type == TVM_PULP_UINT8) {  \
    LOOP(XP_LBU, 1, CLIP);                   \
  } else {                                   \
    LOOP(XP_LW, 4, CLIP);                    \
  }

static __attribute__((noinline)) void requantize_piece(const struct tvm_pulp_requantize_args *p, const uint8_t *x,
                                                uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0];
  /* (x - zero_point) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t add = tvm_pulp_xp_msu(r->add[0], p->zero_point, mul);
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n) FOUR_BY_RANGE(r, LOOPS(XP_CLIPUR), LOOPS(XP_CLIPR));
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = tvm_pulp_one(r, tvm_pulp_load(x, i, p->x_type), mul, add);
}

static __attribute__((noinline)) void shift_rows(const struct tvm_pulp_requantize_args *p, uint32_t row, uint32_t rows,
                                                 uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *shift = r->mul + channel, *add = r->add + channel;
  const uint8_t *x = (const uint8_t *)p->x + row * p->x_stride + 4u * channel;
  uint8_t *y = (uint8_t *)p->y + row * p->y_stride + channel;
  FOUR_LOCALS;
  FOUR_BY_RANGE(r, SHIFT_LOOP(XP_CLIPUR, , ), SHIFT_LOOP(XP_CLIPR, , ));
}

static void shift_share(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  const uint32_t groups = p->columns >> 2;
  struct tvm_pulp_group_share s = tvm_pulp_share_groups(groups, p->rows, 4u, core, cores);
  if (s.range.begin == s.range.end) return;
  for (; s.first < groups; s.first += s.step) shift_rows(p, s.range.begin, s.range.end - s.range.begin, 4u * s.first);
}

/* 32-bit numbers of channels in fours, each with a rule of its own, to bytes. */
static inline uint32_t are_fours(const struct tvm_pulp_requantize_args *args) {
  const struct tvm_pulp_requant *r = &args->requant;
  return args->x_type == TVM_PULP_INT32 && args->zero_point == 0 && !args->per_row && r->per_channel &&
         !r->wide_result && (args->columns & 3u) == 0u;
}

static __attribute__((noinline)) void requantize_others(const struct tvm_pulp_requantize_args *args, uint32_t core,
                                                        uint32_t cores) {
  uint32_t columns = args->columns, x_bytes = tvm_pulp_type_bytes(args->x_type);
  uint32_t y_bytes = tvm_pulp_result_bytes(&args->requant), four = tvm_pulp_is_four(&args->requant);
  uint32_t block = args->x_type == TVM_PULP_INT32 && args->zero_point == 0 && !args->per_row;
  if (tvm_pulp_are_channels_to_bytes(args)) {
    tvm_pulp_requantize_bytes(args, core, cores);
    return;
  }
  if (block && args->requant.per_channel && !args->requant.wide_result && args->requant.kind >= TVM_PULP_REQUANT_SHIFT) {
    tvm_pulp_requantize_lines(args, core, cores);
    return;
  }
  if (args->requant.kind >= TVM_PULP_REQUANT_SHIFT || (!four && !block)) {
    tvm_pulp_plain_requantize(args, core, cores);
    return;
  }
  if (!four && args->requant.per_channel && columns >= cores) {
    /* Neighbouring cores take neighbouring columns, which lie in different banks. */
    if (tvm_pulp_is_half_even(&args->requant, args->rows)) {
      tvm_pulp_half_even_columns(args, core, cores);
      return;
    }
    const int32_t *x = (const int32_t *)args->x + core;
    tvm_pulp_requantize_columns(&args->requant, x, args->x_stride / 4u, args->rows, columns - core, cores, args->y,
                                args->y_stride, core);
    return;
  }
  uint32_t is_dense = args->x_stride == columns * x_bytes && args->y_stride == columns * y_bytes &&
                      !args->requant.per_channel;
  TVM_PULP_EACH_PIECE(args->rows, columns, is_dense, core, cores, {
    const uint8_t *x = (const uint8_t *)args->x + row * args->x_stride + column * x_bytes;
    uint8_t *y = (uint8_t *)args->y + row * args->y_stride;
    if (four) {
      requantize_piece(args, x, y + column, count);
    } else {
      tvm_pulp_requantize_row(&args->requant, (const int32_t *)(const void *)x, count, y, column);
    }
  });
}

/* What engines leave comes first, in as little code as possible: it is called for every tile. */
TVM_PULP_KERNEL(requantize) {
  uint32_t fours = are_fours(args), kind = args->requant.kind;
  /* <float biases> */
  if (kind == TVM_PULP_REQUANT_OFFSET_HALF_EVEN) {
    /* Of 32 bits, without a zero point, columns of one line: neighbouring cores take neighbouring ones. */
    const int32_t *x = (const int32_t *)args->x + core;
    if (core < args->columns) {
      tvm_pulp_requantize_columns(&args->requant, x, args->x_stride / 4u, args->rows, args->columns - core, cores,
                                  args->y, args->y_stride, core);
    }
    return;
  }
  /* </float biases> */
  if (fours && kind == TVM_PULP_REQUANT_SHIFT && args->lines == 1u && tvm_pulp_is_one_clip(&args->requant)) {
    if (args->rows == 1u) {
      tvm_pulp_requantize_row_of_shifts(args, core, cores);
    } else {
      shift_share(args, core, cores);
    }
  } else if (fours && (kind >= TVM_PULP_REQUANT_SHIFT || kind == TVM_PULP_REQUANT_HALF_UP)) {
    tvm_pulp_requantize_lines(args, core, cores);
  } else {
    requantize_others(args, core, cores);
  }
}
