/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

#include "product_code.h"
#include "tvm_pulp/scale.h"

/* All blocks of columns of four rows that are one core's, requantized to bytes; assembler code counts on this order. */
struct row_job {
  const void *x;
  const int8_t *weight; /* of the next block */
  uint32_t stride, block_bytes;
  const int32_t *bias, *mul, *add; /* of the next block */
  int32_t shift, low, high;
  uint8_t *y; /* of the next block */
  uint32_t y_stride;
  const int32_t *bias_end;
};

#ifdef __riscv
/* What a loop over the depth needs in other registers and on the stack is KEEP's before and RETURN's behind it. */
#define ADD_ROWS(name, KEEP, LOOP, RETURN)                                                                  \
  static __attribute__((noinline)) void name(int32_t *sums, const void *x, uint32_t stride, const int8_t *weight, \
                                             const int8_t *end) {                                           \
    register int32_t *a0 __asm__("a0") = sums;                                                              \
    register const int8_t *a1 __asm__("a1") = weight;                                                       \
    register const void *t0 __asm__("t0") = x;                                                              \
    register uint32_t t1 __asm__("t1") = stride;                                                            \
    register const int8_t *t2 __asm__("t2") = end;                                                          \
    __asm__ volatile("addi sp,sp,-16\nsw a0,0(sp)\nsw gp,4(sp)\n" KEEP SUMS("lw") LOOP                      \
                     "lw a0,0(sp)\nlw gp,4(sp)\n" RETURN "addi sp,sp,16\n" SUMS("sw")                       \
                     : "+r"(a0), "+r"(a1), "+r"(t0), "+r"(t1), "+r"(t2)                                     \
                     :                                                                                      \
                     : ALL_REGISTERS);                                                                      \
  }
#ifdef TVM_PULP_XPULP_NATIVE
ADD_ROWS(add_signed_rows, "", "mv a0,t2\n" DEPTH(XP_SDOTSP), "")
ADD_ROWS(add_unsigned_rows, "", "mv a0,t2\n" DEPTH(XP_SDOTUSP), "")
#else
ADD_ROWS(add_signed_rows, "sw t2,8(sp)\nsw tp,12(sp)\n", PLAIN_DEPTH("lb"), "lw tp,12(sp)\n")
ADD_ROWS(add_unsigned_rows, "sw t2,8(sp)\nsw tp,12(sp)\n", PLAIN_DEPTH("lbu"), "lw tp,12(sp)\n")
#endif

void tvm_pulp_add_rows(int32_t *sums, const void *x, uint32_t stride, const int8_t *weight, uint32_t words,
                       uint32_t x_type) {
  (x_type == TVM_PULP_INT8 ? add_signed_rows : add_unsigned_rows)(sums, x, stride, weight, weight + 16u * words);
}
#else
void tvm_pulp_add_rows(int32_t *sums, const void *x, uint32_t stride, const int8_t *weight, uint32_t words,
                       uint32_t x_type) {
  for (uint32_t row = 0; row < TVM_PULP_BLOCK; row++)
    tvm_pulp_add_row(sums + TVM_PULP_BLOCK * row, tvm_pulp_row(x, row, stride), weight, words, x_type);
}
#endif

#ifdef TVM_PULP_XPULP_NATIVE
#define RUN_ROWS(name, DOT)                                                                                 \
  static __attribute__((noinline)) void name(struct row_job *job) {                                         \
    register struct row_job *a0 __asm__("a0") = job;                                                        \
    __asm__ volatile("addi sp,sp,-16\nsw a0,0(sp)\nsw gp,4(sp)\n" ROW_BLOCK(DOT) "lw gp,4(sp)\naddi sp,sp,16\n" \
                     : "+r"(a0)                                                                             \
                     :                                                                                      \
                     : ALL_REGISTERS, "a1", "t0", "t1", "t2");                                              \
  }
RUN_ROWS(run_signed_rows, XP_SDOTSP)
RUN_ROWS(run_unsigned_rows, XP_SDOTUSP)
#endif

/* Two words at a time, all of them asked for before the first is used. */
#define ADD_ROW(DOT)                                                                                 \
  if (words & 1u) {                                                                                  \
    const int32_t x0 = *v++;                                                                         \
    s0 = DOT(s0, x0, w[0]), s1 = DOT(s1, x0, w[1]), s2 = DOT(s2, x0, w[2]), s3 = DOT(s3, x0, w[3]);  \
    w += 4;                                                                                          \
  }                                                                                                  \
  for (const int32_t *const end = w + 4u * (words & ~1u); w != end; w += 8, v += 2) {                \
    const int32_t x0 = v[0], w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];                             \
    const int32_t x1 = v[1], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];                             \
    s0 = DOT(s0, x0, w0), s1 = DOT(s1, x0, w1), s2 = DOT(s2, x0, w2), s3 = DOT(s3, x0, w3);          \
    s0 = DOT(s0, x1, w4), s1 = DOT(s1, x1, w5), s2 = DOT(s2, x1, w6), s3 = DOT(s3, x1, w7);          \
  }

void tvm_pulp_add_row(int32_t *sums, const void *x, const int8_t *weight, uint32_t words, uint32_t x_type) {
  const int32_t *v = x, *w = (const int32_t *)(const void *)weight;
  int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  if (x_type == TVM_PULP_INT8) {
    ADD_ROW(tvm_pulp_xp_sdotsp4)
  } else {
    ADD_ROW(tvm_pulp_xp_sdotusp4)
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

void tvm_pulp_start_block(const struct tvm_pulp_blocks *blocks, int32_t *sums, uint32_t block) {
  const int32_t *bias = blocks->bias + tvm_pulp_block_column(block, blocks->columns);
  int32_t b0 = 0, b1 = 0, b2 = 0, b3 = 0;
  if (blocks->bias && blocks->columns >= TVM_PULP_BLOCK) {
    b0 = bias[0], b1 = bias[1], b2 = bias[2], b3 = bias[3];
  } else if (blocks->bias) {
    b0 = bias[0], b1 = blocks->columns > 1u ? bias[1] : 0, b2 = blocks->columns > 2u ? bias[2] : 0;
  }
  for (uint32_t row = 0; row < TVM_PULP_BLOCK; row++, sums += TVM_PULP_BLOCK)
    sums[0] = b0, sums[1] = b1, sums[2] = b2, sums[3] = b3;
}

/* Four columns of some rows to bytes. What is stored could be anything to the compiler, so that everything it needs
 * behind a store is in registers before. */
static void finish_bytes(const struct tvm_pulp_requant *r, const int32_t *sums, uint32_t rows, uint32_t first,
                         uint8_t *y, uint32_t y_stride) {
  const int32_t shift = r->shift, low = r->low, high = r->high;
  const int32_t *const mul = r->mul + (r->per_channel ? first : 0u), *const add = r->add + (r->per_channel ? first : 0u);
  const uint32_t step = r->per_channel ? 1u : 0u;
  const int32_t m0 = mul[0], m1 = mul[step], m2 = mul[2u * step], m3 = mul[3u * step];
  const int32_t a0 = add[0], a1 = add[step], a2 = add[2u * step], a3 = add[3u * step];
  for (; rows != 0u; rows--, sums += TVM_PULP_BLOCK, y += y_stride) {
    int32_t v0 = tvm_pulp_xp_mac(a0, sums[0], m0), v1 = tvm_pulp_xp_mac(a1, sums[1], m1);
    int32_t v2 = tvm_pulp_xp_mac(a2, sums[2], m2), v3 = tvm_pulp_xp_mac(a3, sums[3], m3);
    v0 >>= shift, v1 >>= shift, v2 >>= shift, v3 >>= shift;
    v0 = tvm_pulp_xp_max(v0, low), v1 = tvm_pulp_xp_max(v1, low);
    v2 = tvm_pulp_xp_max(v2, low), v3 = tvm_pulp_xp_max(v3, low);
    v0 = tvm_pulp_xp_min(v0, high), v1 = tvm_pulp_xp_min(v1, high);
    v2 = tvm_pulp_xp_min(v2, high), v3 = tvm_pulp_xp_min(v3, high);
    y[0] = (uint8_t)v0, y[1] = (uint8_t)v1, y[2] = (uint8_t)v2, y[3] = (uint8_t)v3;
  }
}

void tvm_pulp_finish_block(const struct tvm_pulp_blocks *blocks, const int32_t *sums, uint32_t rows, uint32_t block,
                           void *y) {
  const struct tvm_pulp_requant *r = &blocks->requant;
  const uint32_t first = tvm_pulp_block_column(block, blocks->columns);
  const uint32_t count = blocks->columns < TVM_PULP_BLOCK ? blocks->columns : TVM_PULP_BLOCK;
  if (r->kind == TVM_PULP_REQUANT_PULP_NARROW && r->wide_result == 0u && count == TVM_PULP_BLOCK) {
    finish_bytes(r, sums, rows, first, (uint8_t *)y + first, blocks->y_stride);
    return;
  }
  uint8_t *const to = (uint8_t *)y + first * tvm_pulp_result_bytes(r);
  for (uint32_t column = 0; column < count; column++)
    tvm_pulp_finish_channel(r, sums + column, TVM_PULP_BLOCK, rows, to + column * tvm_pulp_result_bytes(r),
                            blocks->y_stride, first + column);
}

void tvm_pulp_multiply_block(const struct tvm_pulp_blocks *blocks, const void *x, uint32_t stride, uint32_t rows,
                             uint32_t block, void *y) {
  const int8_t *weight = blocks->weight + TVM_PULP_BLOCK * block * blocks->depth_stride;
  const uint32_t words = blocks->depth_stride >> 2;
  int32_t sums[TVM_PULP_BLOCK * TVM_PULP_BLOCK];
  tvm_pulp_start_block(blocks, sums, block);
  if (rows == TVM_PULP_BLOCK) {
    tvm_pulp_add_rows(sums, x, stride, weight, words, blocks->x_type);
  } else {
    for (uint32_t row = 0; row < rows; row++)
      tvm_pulp_add_row(sums + TVM_PULP_BLOCK * row, tvm_pulp_row(x, row, stride), weight, words, blocks->x_type);
  }
  tvm_pulp_finish_block(blocks, sums, rows, block, y);
}

const int8_t *tvm_pulp_stage_rows(const void *from, uint32_t from_stride, uint32_t depth, uint32_t count, uint8_t *to) {
  const uint32_t stride = (depth + 3u) & ~3u;
  for (uint32_t row = 0; row < count; row++) {
    const uint8_t *bytes = tvm_pulp_row(from, row, from_stride);
    for (uint32_t k = 0; k < depth; k++) to[row * stride + k] = bytes[k];
    for (uint32_t k = depth; k < stride; k++) to[row * stride + k] = 0;
  }
  return (const int8_t *)to;
}

/* Whether one piece of code does all blocks of four rows. */
static int runs_whole(const struct tvm_pulp_blocks *blocks) {
#ifdef TVM_PULP_XPULP_NATIVE
  return blocks->requant.kind == TVM_PULP_REQUANT_PULP_NARROW && blocks->requant.wide_result == 0u &&
         blocks->requant.per_channel && blocks->bias && (blocks->columns & 3u) == 0u;
#else
  (void)blocks;
  return 0;
#endif
}

/* Blocks `block` to `end` of four rows. */
static void run_whole(const struct tvm_pulp_blocks *blocks, const int8_t *x, uint32_t stride, uint32_t block,
                      uint32_t end, uint8_t *y) {
  const struct tvm_pulp_requant *r = &blocks->requant;
  const uint32_t first = TVM_PULP_BLOCK * block;
  struct row_job job = {x,
                        blocks->weight + first * blocks->depth_stride,
                        stride,
                        TVM_PULP_BLOCK * blocks->depth_stride,
                        blocks->bias + first,
                        r->mul + first,
                        r->add + first,
                        r->shift,
                        r->low,
                        r->high,
                        y + first,
                        blocks->y_stride,
                        blocks->bias + TVM_PULP_BLOCK * end};
#ifdef TVM_PULP_XPULP_NATIVE
  (blocks->x_type == TVM_PULP_INT8 ? run_signed_rows : run_unsigned_rows)(&job);
#else
  (void)job;
#endif
}

void tvm_pulp_multiply_in_place(const struct tvm_pulp_blocks *blocks, const int8_t *x, uint32_t stride, uint32_t rows,
                                void *y, uint32_t core, uint32_t cores) {
  const uint32_t column_blocks = (blocks->columns + 3u) >> 2;
  const uint32_t together = tvm_pulp_rows_together(rows, column_blocks, cores);
  const uint32_t row_blocks = together == 1u ? rows : (rows + 3u) >> 2;
  const struct tvm_pulp_range share = tvm_pulp_share(row_blocks * column_blocks, core, cores);
  if (share.begin == share.end) return;
  uint32_t row = share.begin / column_blocks, block = share.begin - row * column_blocks;
  row *= together;
  for (uint32_t left = share.end - share.begin; left != 0u; row += together, block = 0) {
    const uint32_t count = rows - row < together ? rows - row : together;
    const uint32_t end = block + left < column_blocks ? block + left : column_blocks;
    uint8_t *const to = tvm_pulp_out_row(y, row, blocks->y_stride);
    left -= end - block;
    if (count == TVM_PULP_BLOCK && runs_whole(blocks)) {
      run_whole(blocks, x + row * stride, stride, block, end, to);
    } else {
      for (; block < end; block++) tvm_pulp_multiply_block(blocks, x + row * stride, stride, count, block, to);
    }
  }
}
