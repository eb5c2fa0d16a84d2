/* SPDX-License-Identifier: Apache-2.0
 *
 * A value at distance d below the largest is halved (d + 16) >> 5 times; `edge` is the largest value plus 16. */
#include "softmax_row.h"
#include "tvm_pulp/plain/softmax.h"
#include "tvm_pulp/work_share.h"

#define EACH(OP) OP("%[v0]") OP("%[v1]") OP("%[v2]") OP("%[v3]")
#define DISTANCE(v) "sub " v ",%[c]," v "\n"
#define HALVINGS(v) "srai " v "," v ",5\n"
#define HALVED(v) "srl " v ",%[f]," v "\n"
#define SUM(v) "add %[s],%[s]," v "\n"
#define SHIFTED(LOAD)                                                                                       \
  LOAD("%[v0]", 1, "%[x]") LOAD("%[v1]", 1, "%[x]") LOAD("%[v2]", 1, "%[x]") LOAD("%[v3]", 1, "%[x]")       \
  EACH(DISTANCE) EACH(HALVINGS) EACH(HALVED)
#define LAST_SUM "add %[s],%[s],%[v3]\n"

/* `from` halved for every element: the sum, and the results. */
#define DEFINE_LOOPS(name, type, LOAD)                                                                      \
  static uint32_t sum_##name(const type *x, uint32_t count, int32_t edge) {                                 \
    uint32_t sum = 0, v0, v1, v2, v3, n = count >> 2, from = 256;                                           \
    if (n) {                                                                                                \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") SHIFTED(LOAD) SUM("%[v0]") SUM("%[v1]") SUM("%[v2]")        \
                           XP_LOOP_END LAST_SUM XP_END                                                      \
                       : [x] "+r"(x), [s] "+r"(sum), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2),        \
                         [v3] "=&r"(v3)                                                                     \
                       : [n] "r"(n), [c] "r"(edge), [f] "r"(from)                                           \
                       : "memory");                                                                         \
    }                                                                                                       \
    for (uint32_t i = 0; i < (count & 3u); ++i) sum += from >> ((edge - x[i]) >> 5);                        \
    return sum;                                                                                             \
  }                                                                                                         \
  static void write_##name(const type *x, uint8_t *y, uint32_t count, int32_t edge, uint32_t from) {        \
    uint32_t v0, v1, v2, v3, n = count >> 2;                                                                \
    if (n) {                                                                                                \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") SHIFTED(LOAD) XP_PACKLO("%[v0]", "%[v1]", "%[v0]")          \
                           XP_PACKHI("%[v0]", "%[v3]", "%[v2]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END \
                       : [x] "+r"(x), [y] "+r"(y), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2),          \
                         [v3] "=&r"(v3)                                                                     \
                       : [n] "r"(n), [c] "r"(edge), [f] "r"(from)                                           \
                       : "memory");                                                                         \
    }                                                                                                       \
    for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = (uint8_t)(from >> ((edge - x[i]) >> 5));             \
  }
DEFINE_LOOPS(signed, int8_t, XP_LB)
DEFINE_LOOPS(unsigned, uint8_t, XP_LBU)

/* Denominator of a row that is seen in groups: it shrinks when a group brings a new largest value. */
static uint32_t grouped_denominator(const int8_t *x, uint32_t columns, uint32_t group, int32_t *largest) {
  uint32_t denominator = 0;
  *largest = -128;
  for (uint32_t first = 0; first < columns; first += group) {
    uint32_t count = columns - first < group ? columns - first : group;
    int32_t best = tvm_pulp_xp_max(*largest, tvm_pulp_maximum_signed(x + first, count));
    denominator = (denominator >> ((best - *largest + 16) >> 5)) + sum_signed(x + first, count, best + 16);
    *largest = best;
  }
  return denominator;
}

static void write_row(const struct tvm_pulp_softmax_ita_args *args, const uint8_t *x, uint8_t *y) {
  uint32_t columns = args->columns;
  const int8_t *s = (const int8_t *)x;
  int32_t largest;
  if (args->group) {
    uint32_t denominator = grouped_denominator(s, columns, args->group, &largest);
    write_signed(s, y, columns, largest + 16, (args->levels / 2u - 1u) * 256u / denominator);
  } else if (args->x_type == TVM_PULP_INT8) {
    largest = tvm_pulp_maximum_signed(s, columns);
    uint32_t from = (args->levels - 1u) * 256u / sum_signed(s, columns, largest + 16);
    write_signed(s, y, columns, largest + 16, from);
  } else {
    largest = tvm_pulp_maximum_unsigned(x, columns);
    uint32_t from = (args->levels - 1u) * 256u / sum_unsigned(x, columns, largest + 16);
    write_unsigned(x, y, columns, largest + 16, from);
  }
}

TVM_PULP_KERNEL(softmax_ita) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    write_row(args, args->x + row * args->columns, args->y + row * args->columns);
  }
}
