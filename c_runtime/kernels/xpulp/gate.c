/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "tile.h"

enum { TABLE_WORDS = 64, MUCH = 512 };

/* Entries of the table take the place of its indices. */
#define ENTRY(v, w) XP_LBX(v, v, "%[t]")
#define TIMES(v, w) "mul " v "," v "," w "\n"
#define PRODUCTS FOUR_PAIRS(XP_LBU, XP_LB) FOUR_EACH(ENTRY) FOUR_EACH(TIMES)
#define OPERANDS                                                                                    \
  : FOUR_OUTPUTS, [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3), [pa] "+r"(a), [pb] "+r"(b) \
  : FOUR_INPUTS, [t] "r"(table)                                                                     \
  : "memory"
#define LOOP(CLIP) __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") PRODUCTS FOUR_FINISH(CLIP) XP_END OPERANDS)
/* By 2^16, half up: one instruction multiplies and rounds. */
#define LOOP_ROUNDED                                                                                   \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") PRODUCTS FOUR(XP_MULSR16, "%[m]") FOUR(XP_CLIPR, "%[h]")    \
                       FOUR_STORE XP_END OPERANDS)

struct piece {
  const uint8_t *a;
  const int8_t *b, *table;
  uint8_t *y;
  uint32_t count;
};

/* Other rules, and less than four. */
static __attribute__((noinline)) void other_piece(const struct tvm_pulp_requant *r, struct piece p) {
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  const uint8_t *a = p.a;
  const int8_t *b = p.b, *table = p.table;
  uint8_t *y = p.y;
  uint32_t n = p.count >> 2;
  FOUR_LOCALS;
  if (n == 0u) {
    /* Only the rest. */
  } else if (r->low == 0) {
    LOOP(XP_CLIPUR);
  } else {
    LOOP(XP_CLIPR);
  }
  for (uint32_t i = 0; i < (p.count & 3u); ++i) y[i] = tvm_pulp_one(r, table[a[i]] * b[i], mul, add);
}

static inline void run(const struct tvm_pulp_requant *r, struct piece p) {
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  const int8_t *table = p.table;
  uint32_t n = p.count >> 2;
  FOUR_LOCALS;
  if (n != 0u && r->shift == 16 && add == 1 << 15 && mul == (int16_t)mul && r->low != 0) {
    const uint8_t *a = p.a;
    const int8_t *b = p.b;
    uint8_t *y = p.y;
    LOOP_ROUNDED;
    p = (struct piece){a, b, table, y, p.count & 3u};
  }
  if (p.count != 0u) other_piece(r, p);
}

/* Often a few values are most of the data, and all cores would wait for one bank: a core has a copy of the table, which
 * begins in a bank of its own. */
static __attribute__((noinline)) void run_much(const struct tvm_pulp_requant *r, struct piece p, uint32_t core) {
  uint32_t room[TABLE_WORDS + 16], *table = room + (core & 15u);
  tvm_pulp_copy_words(table, p.table, TABLE_WORDS);
  p.table = (const int8_t *)table;
  run(r, p);
}

TVM_PULP_KERNEL(gate) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  struct piece p = {args->a + range.begin, args->b + range.begin, args->table, args->y + range.begin,
                    range.end - range.begin};
  if (p.count >= MUCH) {
    run_much(&args->requant, p, core);
  } else {
    run(&args->requant, p);
  }
}
