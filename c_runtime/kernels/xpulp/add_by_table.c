/* SPDX-License-Identifier: Apache-2.0
 *
 * One load for every table instead of a product, a shift and a clip. The order of the operands does not matter, so
 * there are six loops: two tables, a table and a byte of either sign, two bytes. */
#include "add_by_table.h"

#include "four_elements.h"
#include "tvm_pulp/plain/elementwise.h"

#define LOOKUP_A FOUR(XP_LBX, "%[ta]")
#define LOOKUP_B                                                                                    \
  XP_LBX("%[w0]", "%[w0]", "%[tb]") XP_LBX("%[w1]", "%[w1]", "%[tb]") XP_LBX("%[w2]", "%[w2]", "%[tb]") \
  XP_LBX("%[w3]", "%[w3]", "%[tb]")
#define ADD(v, w) "add " v "," v "," w "\n"
/* A dot product with a single one picks a byte out of a word, and adds it to another. */
#define PICKED(DOT, SDOT)                                                                           \
  XP_LW("%[w0]", 4, "%[pa]") XP_LW("%[w1]", 4, "%[pb]") DOT("%[v0]", "%[w0]", "%[k0]")              \
  DOT("%[v1]", "%[w0]", "%[k1]") DOT("%[v2]", "%[w0]", "%[k2]") DOT("%[v3]", "%[w0]", "%[k3]")      \
  SDOT("%[v0]", "%[w1]", "%[k0]") SDOT("%[v1]", "%[w1]", "%[k1]") SDOT("%[v2]", "%[w1]", "%[k2]")   \
  SDOT("%[v3]", "%[w1]", "%[k3]")
#define LOOKED_UP(SDOT)                                                                             \
  FOUR_LOAD(XP_LBU, 1, "%[pa]") XP_LW("%[w1]", 4, "%[pb]") LOOKUP_A SDOT("%[v0]", "%[w1]", "%[k0]")  \
  SDOT("%[v1]", "%[w1]", "%[k1]") SDOT("%[v2]", "%[w1]", "%[k2]") SDOT("%[v3]", "%[w1]", "%[k3]")
#define TABLES [ta] "r"(s->table_a), [tb] "r"(s->table_b)
#define ONES [k0] "r"(0x1), [k1] "r"(0x100), [k2] "r"(0x10000), [k3] "r"(0x1000000)
#define LOOP(SUMS, ...)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") SUMS FOUR(XP_LBUX, "%[ts]") FOUR_STORE XP_END           \
                   : FOUR_OUTPUTS, FOUR_SECONDS, [pa] "+r"(a), [pb] "+r"(b)                         \
                   : [n] "r"(n), [ts] "r"(s->results), __VA_ARGS__                                  \
                   : "memory")

/* The operands in the order that the loops expect: tables first, then signed bytes. */
struct sum {
  const int8_t *table_a, *table_b;
  uint32_t a_type, b_type;
  uintptr_t results; /* of the sum 0 */
};

static __attribute__((noinline)) void add_piece(const struct sum *s, const uint8_t *a, const uint8_t *b, uint8_t *y,
                                                uint32_t count) {
  int32_t w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n == 0u) {
    /* only the rest below */
  } else if (s->table_b) {
    LOOP(FOUR_PAIRS(XP_LBU, XP_LBU) LOOKUP_A LOOKUP_B FOUR_EACH(ADD), TABLES);
  } else if (s->table_a) {
    XP_BY_SIGN(s->b_type, LOOP(LOOKED_UP(XP_SDOTSP), TABLES, ONES), LOOP(LOOKED_UP(XP_SDOTUP), TABLES, ONES));
  } else if (s->b_type == TVM_PULP_INT8) {
    LOOP(PICKED(XP_DOTSP, XP_SDOTSP), ONES);
  } else if (s->a_type == TVM_PULP_INT8) {
    LOOP(PICKED(XP_DOTSP, XP_SDOTUSP), ONES);
  } else {
    LOOP(PICKED(XP_DOTUP, XP_SDOTUP), ONES);
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t left = tvm_pulp_plain_operand(a, i, s->a_type, s->table_a, 0);
    int32_t right = tvm_pulp_plain_operand(b, i, s->b_type, s->table_b, 0);
    y[i] = *(const uint8_t *)(s->results + (uintptr_t)(left + right));
  }
}

void tvm_pulp_add_by_table(const struct tvm_pulp_add_args *args, uint32_t core, uint32_t cores) {
  struct sum s = {args->table_a, args->table_b, args->a_type, args->b_type,
                  (uintptr_t)args->sum_table - (uintptr_t)args->sum_low};
  const uint8_t *first = args->a, *second = args->b;
  uint32_t columns = args->columns, a_stride = args->a_stride, b_stride = args->b_stride;
  uint32_t is_late = s.table_a ? 0u : s.table_b ? 1u : s.a_type == TVM_PULP_UINT8 && s.b_type == TVM_PULP_INT8;
  if (is_late) {
    s = (struct sum){s.table_b, s.table_a, s.b_type, s.a_type, s.results};
    first = args->b;
    second = args->a;
    a_stride = args->b_stride;
    b_stride = args->a_stride;
  }
  uint32_t is_dense = a_stride == columns && b_stride == columns && args->y_stride == columns;
  TVM_PULP_EACH_PIECE(args->rows, columns, is_dense, core, cores, {
    uint8_t *y = (uint8_t *)args->y + row * args->y_stride + column;
    add_piece(&s, first + row * a_stride + column, second + row * b_stride + column, y, count);
  });
}
