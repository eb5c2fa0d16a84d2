/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of the second operand at a time are packed into the scratch area; all rows that are this core's follow.
 *
 *   sum (a - za)(b - zb) = sum a b - za sum b - zb sum a + depth za zb
 *
 * The second term and the last are the bias of a column, the third the bias of a row. An unsigned b is turned into a
 * signed one by taking 128 from its values and from its zero point. */
#include "pack_columns.h"
#include "tile.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

static const int32_t ONES = 0x01010101;

struct operands {
  const struct tvm_pulp_matmul_args *args;
  uint32_t stride;    /* depth rounded up to 4 */
  int32_t last_mask;  /* bytes of the last word that belong to the depth */
  int32_t flip;       /* turns b signed */
  int32_t zero_point; /* of b, then */
  int32_t *packed;
  uint8_t *rows; /* staged rows of a */
  int32_t bias[4];
};

/* Columns [first, first + 4) of a [columns][depth] matrix. */
static void pack_rows(const struct operands *o, const int8_t *b, uint32_t first) {
  const struct tvm_pulp_matmul_args *args = o->args;
  const int8_t *row[4];
  for (uint32_t j = 0; j < 4u; ++j) {
    uint32_t column = first + j < args->columns ? first + j : args->columns - 1u;
    row[j] = b + column * args->b_stride;
  }
  uint32_t n = o->stride >> 2;
  int32_t w0, w1, w2, w3, *packed = o->packed;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w0]", 4, "%[r0]") XP_LW("%[w1]", 4, "%[r1]")
                       XP_LW("%[w2]", 4, "%[r2]") XP_LW("%[w3]", 4, "%[r3]")
                   "xor %[w0],%[w0],%[f]\nxor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"
                   XP_SW("%[w0]", 4, "%[y]") XP_SW("%[w1]", 4, "%[y]") XP_SW("%[w2]", 4, "%[y]") XP_LOOP_END
                       XP_SW("%[w3]", 4, "%[y]") XP_END
                   : XP_FOUR_OF("+r", r, row), [y] "+r"(packed), XP_FOUR("=&r", w)
                   : [n] "r"(n), [f] "r"(o->flip)
                   : "memory");
}

static void pack_block(struct operands *o, const int8_t *b, uint32_t first) {
  const struct tvm_pulp_matmul_args *args = o->args;
  if (args->transpose_b) {
    pack_rows(o, b, first);
  } else {
    tvm_pulp_pack_columns(o->packed, b + first, args->depth, args->b_stride, o->flip);
  }
  int32_t *last = o->packed + o->stride - 4u;
  for (uint32_t j = 0; j < 4u; ++j) last[j] &= o->last_mask;
  for (uint32_t j = 0; j < 4u; ++j) {
    int32_t sum = 0;
    if (args->zero_point_a) {
      for (uint32_t k = 0; k < o->stride; k += 4u) sum = tvm_pulp_xp_sdotsp4(sum, o->packed[k + j], ONES);
    }
    o->bias[j] = args->zero_point_a * ((int32_t)args->depth * o->zero_point - sum);
  }
}

/* Rows [first, end) times the packed block. */
static void multiply(struct operands *o, struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t first, uint32_t end,
                     uint8_t *y) {
  const struct tvm_pulp_matmul_args *args = o->args;
  uint32_t direct = args->a_stride == o->stride && ((uintptr_t)a & 3u) == 0u;
  while (first < end) {
    uint32_t rows = end - first;
    if (rows > 4u) rows = direct ? rows & ~3u : 4u;
    const int8_t *from = a + first * args->a_stride;
    uint8_t *to = y + first * args->y_stride;
    if (!direct) {
      for (uint32_t row = 0; row < rows; ++row) {
        tvm_pulp_copy_words(o->rows + row * o->stride, from + row * args->a_stride, o->stride >> 2);
      }
      from = (const int8_t *)o->rows;
    }
    if (o->zero_point) {
      tvm_pulp_tiles_run_summed(tiles, from, rows, 0, 1, to, args->y_stride, args->depth, -o->zero_point);
    } else {
      tvm_pulp_tiles_run(tiles, from, rows, 0, 1, to, args->y_stride);
    }
    first += rows;
  }
}

TVM_PULP_KERNEL(matmul) {
  uint32_t column_tiles = (args->columns + 3u) >> 2, row_blocks = (args->rows + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(args->batch * column_tiles * row_blocks, core, cores);
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  struct operands o;
  o.args = args;
  o.stride = (args->depth + 3u) & ~3u;
  o.last_mask = (int32_t)(0xffffffffu >> (8u * (o.stride - args->depth)));
  o.flip = args->b_type == TVM_PULP_UINT8 ? (int32_t)0x80808080u : 0;
  o.zero_point = args->zero_point_b - (args->b_type == TVM_PULP_UINT8 ? 128 : 0);
  o.packed = (int32_t *)(void *)scratch;
  o.rows = scratch + 4u * o.stride;
  struct tvm_pulp_requant requant = args->requant;
  uint32_t per_channel = requant.per_channel, bytes = tvm_pulp_result_bytes(&requant);
  for (uint32_t at = range.begin; at < range.end;) {
    uint32_t outer = at / row_blocks, block = at - outer * row_blocks;
    uint32_t batch = outer / column_tiles, column = 4u * (outer - batch * column_tiles), columns = 4;
    if (column + 4u > args->columns) {
      columns = args->columns < 4u ? args->columns : 4u;
      column = args->columns - columns;
    }
    uint32_t last = block + (range.end - at) < row_blocks ? block + (range.end - at) : row_blocks;
    pack_block(&o, args->b + batch * args->b_batch_stride, column);
    /* The block is a matrix of its own, with its own part of the per-channel constants. */
    requant.mul = args->requant.mul + per_channel * column;
    requant.add = args->requant.add + per_channel * column;
    struct tvm_pulp_tiles tiles;
    tvm_pulp_tiles_prepare(&tiles, (const int8_t *)o.packed, o.bias, columns, o.stride, args->a_type, &requant);
    uint8_t *y = (uint8_t *)args->y + batch * args->y_batch_stride + bytes * column;
    uint32_t end = 4u * last < args->rows ? 4u * last : args->rows;
    multiply(&o, &tiles, args->a + batch * args->a_batch_stride, 4u * block, end, y);
    at += last - block;
  }
}
