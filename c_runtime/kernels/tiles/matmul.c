/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two activations: each core packs four columns of the right operand as weights are, and multiplies blocks of
 * four rows by them. With `unpacked = packed + offset` a sum is that of the packed values, and what a row and a column add:
 *
 *   sum((a - za) * (b - zb)) = sum(a * packed) + (offset - zb) * sum(a) - za * (sum(packed) + depth * (offset - zb)) */
#include "product.h"
#include "tvm_pulp/tiles.h"

/* Words of four columns, each behind the other in memory. */
static void pack_rows(const uint32_t *from, uint32_t stride, uint32_t words, uint32_t flips, uint32_t *to) {
  const uint32_t *second = from + stride, *third = second + stride, *fourth = third + stride;
  for (uint32_t i = 0; i < words; i++, to += 4) {
    const uint32_t w0 = from[i], w1 = second[i], w2 = third[i], w3 = fourth[i];
    to[0] = w0 ^ flips, to[1] = w1 ^ flips, to[2] = w2 ^ flips, to[3] = w3 ^ flips;
  }
}

/* Columns side by side: four words become one of each column. */
static void pack_columns(const uint32_t *from, uint32_t stride, uint32_t words, uint32_t flips, uint32_t *to) {
  const uint32_t even = 0x00FF00FFu;
  for (uint32_t i = 0; i < words; i++, from += 4u * stride, to += 4) {
    const uint32_t w0 = from[0], w1 = from[stride], w2 = from[2u * stride], w3 = from[3u * stride];
    const uint32_t t0 = (w0 & even) | (w1 & even) << 8, t1 = (w0 >> 8 & even) | (w1 & ~even);
    const uint32_t t2 = (w2 & even) | (w3 & even) << 8, t3 = (w2 >> 8 & even) | (w3 & ~even);
    to[0] = ((t0 & 0xFFFFu) | t2 << 16) ^ flips, to[1] = ((t1 & 0xFFFFu) | t3 << 16) ^ flips;
    to[2] = (t0 >> 16 | (t2 & 0xFFFF0000u)) ^ flips, to[3] = (t1 >> 16 | (t3 & 0xFFFF0000u)) ^ flips;
  }
}

static void pack_bytes(const struct tvm_pulp_matmul_args *args, const int8_t *from, uint32_t count, uint32_t flip,
                       int8_t *to) {
  const uint32_t along = args->transpose_b ? 1u : args->b_stride, across = args->transpose_b ? args->b_stride : 1u;
  for (uint32_t k = 0; k < ((args->depth + 3u) & ~3u); k++, from += along, to += (k & 3u) == 0u ? 13 : 1) {
    for (uint32_t column = 0; column < TVM_PULP_BLOCK; column++) {
      const int is_inside = column < count && k < args->depth;
      to[TVM_PULP_BLOCK * column] = is_inside ? (int8_t)((uint8_t)from[column * across] ^ flip) : 0;
    }
  }
}

/* Columns from `first` on, and their sums where somebody needs them. Unsigned bytes are packed 128 lower. */
static void pack(const struct tvm_pulp_matmul_args *args, const int8_t *b, uint32_t first, uint32_t count, int8_t *to,
                 int32_t *sums) {
  const uint32_t words = (args->depth + 3u) >> 2, flip = args->b_type == TVM_PULP_UINT8 ? 0x80u : 0u;
  const int8_t *from = b + first * (args->transpose_b ? args->b_stride : 1u);
  const uint32_t *aligned = (const uint32_t *)(const void *)from;
  uint32_t *out = (uint32_t *)(void *)to;
  if ((((uintptr_t)from | args->b_stride | args->depth) & 3u) != 0u || count != TVM_PULP_BLOCK)
    pack_bytes(args, from, count, flip, to);
  else
    (args->transpose_b ? pack_rows : pack_columns)(aligned, args->b_stride >> 2, words, flip * 0x01010101u, out);
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  if (args->zero_point_a == 0) return;
  for (uint32_t i = 0; i < 4u * words; i++) sums[i & 3u] = tvm_pulp_xp_sdotsp4(sums[i & 3u], (int32_t)out[i], 0x01010101);
}

static int32_t sum_of_row(const struct tvm_pulp_matmul_args *args, const int8_t *a) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < args->depth; k++) sum += tvm_pulp_load(a, k, args->a_type);
  return sum;
}

static void run(const struct tvm_pulp_matmul_args *args, uint32_t core, uint32_t cores) {
  const uint32_t stride = (args->depth + 3u) & ~3u, column_blocks = (args->columns + 3u) >> 2;
  const uint32_t row_blocks = (args->rows + 3u) >> 2, blocks_of_batch = row_blocks * column_blocks;
  const struct tvm_pulp_range share = tvm_pulp_share(args->batch * blocks_of_batch, core, cores);
  int8_t *const packed = (int8_t *)args->scratch + core * args->scratch_stride;
  const struct tvm_pulp_blocks blocks = {packed, 0, args->columns, stride, args->a_type, args->y_stride, args->requant};
  const int is_aligned = (((uintptr_t)args->a | args->a_stride | args->a_batch_stride) & 3u) == 0u && args->depth == stride;
  const int32_t offset = (args->b_type == TVM_PULP_UINT8 ? 128 : 0) - args->zero_point_b;
  const uint32_t count = args->columns < TVM_PULP_BLOCK ? args->columns : TVM_PULP_BLOCK;
  int32_t column_sums[TVM_PULP_BLOCK], sums[TVM_PULP_BLOCK * TVM_PULP_BLOCK];
  for (uint32_t place = share.begin; place < share.end; place++) {
    const uint32_t batch = place / blocks_of_batch, inside = place - batch * blocks_of_batch;
    const uint32_t block = inside / row_blocks, row = TVM_PULP_BLOCK * (inside - block * row_blocks);
    const uint32_t rows = args->rows - row < TVM_PULP_BLOCK ? args->rows - row : TVM_PULP_BLOCK;
    const int8_t *a = args->a + batch * args->a_batch_stride + row * args->a_stride;
    if (place == share.begin || row == 0u)
      pack(args, args->b + batch * args->b_batch_stride, tvm_pulp_block_column(block, args->columns), count, packed,
           column_sums);
    for (uint32_t i = 0; i < rows; i++) {
      const int32_t of_row = offset != 0 ? offset * sum_of_row(args, a + i * args->a_stride) : 0;
      for (uint32_t c = 0; c < TVM_PULP_BLOCK; c++)
        sums[TVM_PULP_BLOCK * i + c] = of_row - args->zero_point_a * (column_sums[c] + (int32_t)args->depth * offset);
    }
    uint8_t *const staged = (uint8_t *)packed + TVM_PULP_BLOCK * stride;
    const int8_t *x = is_aligned ? a : tvm_pulp_stage_rows(a, args->a_stride, args->depth, rows, staged);
    const uint32_t x_stride = is_aligned ? args->a_stride : stride;
    if (rows == TVM_PULP_BLOCK) {
      tvm_pulp_add_rows(sums, x, x_stride, packed, stride >> 2, args->a_type);
    } else {
      for (uint32_t i = 0; i < rows; i++)
        tvm_pulp_add_row(sums + TVM_PULP_BLOCK * i, x + i * x_stride, packed, stride >> 2, args->a_type);
    }
    tvm_pulp_finish_block(&blocks, sums, rows, block,
                          tvm_pulp_out_row(tvm_pulp_out_row(args->y, batch, args->y_batch_stride), row, args->y_stride));
  }
}

/* Each core has a copy of the arguments, as in dense. */
TVM_PULP_KERNEL(matmul) {
  const struct tvm_pulp_matmul_args own = *args;
  run(&own, core, cores);
}
