/* SPDX-License-Identifier: Apache-2.0
 *
 * With at least as many rows as cores, rows are shared; the code is small, since a step that appends one token to a
 * cache runs it cold. Else all bytes are shared. Many bytes with a table are worth a longer loop; few rows of them are
 * shared by bytes too. */
#include "translate.h"

enum { MANY_BYTES = 512, MANY_ROWS = 16 };

static inline void copy_piece(const uint8_t *x, uint8_t *y, uint32_t bytes) {
  uint32_t pairs = bytes >> 3, rest = bytes & 3u, first, second;
  if (pairs) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[x]") XP_LW("%[g]", 4, "%[x]") XP_SW("%[f]", 4, "%[y]")
                         XP_LOOP_END XP_SW("%[g]", 4, "%[y]") XP_END
                     : [y] "+r"(y), [x] "+r"(x), [f] "=&r"(first), [g] "=&r"(second)
                     : [n] "r"(pairs)
                     : "memory");
  }
  if (bytes & 4u) {
    tvm_pulp_xp_put_word(y, tvm_pulp_xp_word(x));
    x += 4;
    y += 4;
  }
  for (; rest != 0u; --rest) *y++ = *x++;
}

static inline void look_up_piece(const uint8_t *x, uint8_t *y, const uint8_t *table, uint32_t bytes) {
  uint32_t value;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LBU("%[v]", 1, "%[x]") XP_LBUX("%[v]", "%[v]", "%[t]") XP_LOOP_END
                       XP_SB("%[v]", 1, "%[y]") XP_END
                   : [y] "+r"(y), [x] "+r"(x), [v] "=&r"(value)
                   : [n] "r"(bytes), [t] "r"(table)
                   : "memory");
}

static inline void move_piece(const uint8_t *table, const uint8_t *x, uint8_t *y, uint32_t bytes) {
  if (table) {
    look_up_piece(x, y, table, bytes);
  } else {
    copy_piece(x, y, bytes);
  }
}

static inline const uint8_t *table_of(const struct tvm_pulp_copy_rows_args *args, uint32_t core) {
  return args->table ? args->table + core * args->table_stride : 0;
}

static TVM_PULP_CLOSE void few_rows(const struct tvm_pulp_copy_rows_args *args, uint32_t core,
                                               uint32_t cores) {
  uint32_t bytes = args->row_bytes;
  const uint8_t *table = table_of(args, core);
  TVM_PULP_EACH_PIECE(args->rows, bytes, args->x_stride == bytes && args->y_stride == bytes, core, cores, {
    const uint8_t *x = (const uint8_t *)args->x + row * args->x_stride + column;
    move_piece(table, x, (uint8_t *)args->y + row * args->y_stride + column, count);
  });
}

/* Pieces of rows through a table, four bytes at a time: as many bytes for every core. */
static __attribute__((noinline)) void look_up_pieces(const struct tvm_pulp_copy_rows_args *args, const uint8_t *table,
                                                     uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_PIECE(args->rows, args->row_bytes, 0, core, cores, {
    tvm_pulp_look_up((const uint8_t *)args->x + row * args->x_stride + column, table,
                     (uint8_t *)args->y + row * args->y_stride + column, count);
  });
}

/* The same by whole rows, each of which takes less: there are so many that cores have about as many bytes. */
static __attribute__((noinline)) void look_up_rows(const struct tvm_pulp_copy_rows_args *args, const uint8_t *table,
                                                   uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  const uint8_t *x = (const uint8_t *)args->x + range.begin * args->x_stride;
  uint8_t *y = (uint8_t *)args->y + range.begin * args->y_stride;
  for (uint32_t row = range.begin; row < range.end; ++row, x += args->x_stride, y += args->y_stride) {
    tvm_pulp_look_up(x, table, y, args->row_bytes);
  }
}

TVM_PULP_KERNEL(copy_rows) {
  if (args->rows < cores) {
    few_rows(args, core, cores);
    return;
  }
  const uint8_t *table = table_of(args, core);
  if (table && args->rows * args->row_bytes >= MANY_BYTES) {
    if (args->rows >= MANY_ROWS * cores) {
      look_up_rows(args, table, core, cores);
    } else {
      look_up_pieces(args, table, core, cores);
    }
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  const uint8_t *x = (const uint8_t *)args->x + range.begin * args->x_stride;
  uint8_t *y = (uint8_t *)args->y + range.begin * args->y_stride;
  for (uint32_t row = range.begin; row < range.end; ++row, x += args->x_stride, y += args->y_stride) {
    move_piece(table, x, y, args->row_bytes);
  }
}
