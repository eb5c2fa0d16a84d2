/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "tile.h"

enum { TABLE_WORDS = 64, MUCH = 512 };

/* Entries of the table take the place of its indices. */
#define ENTRY(v, w) XP_LBX(v, v, "%[t]")
#define TIMES(v, w) "mul " v "," v "," w "\n"
#define PRODUCTS FOUR_PAIRS(XP_LBU, XP_LB) FOUR_EACH(ENTRY) FOUR_EACH(TIMES)
#define OPERANDS                                                                                    \
  : FOUR_OUTPUTS, FOUR_SECONDS, [pa] "+r"(a), [pb] "+r"(b)                                                   \
  : FOUR_INPUTS, [t] "r"(table)                                                                     \
  : "memory"
#define LOOP(CLIP) __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") PRODUCTS FOUR_FINISH(CLIP) XP_END OPERANDS)
/* By 2^16, half up: one instruction multiplies and rounds. */
#define LOOP_ROUNDED                                                                                   \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") PRODUCTS FOUR(XP_MULSR16, "%[m]") FOUR(XP_CLIPR, "%[h]")    \
                       FOUR_STORE XP_END OPERANDS)

/* Less than four elements have no turn of a loop. */
static inline uint32_t is_rounded(const struct tvm_pulp_requant *r, uint32_t count) {
  int32_t mul = r->mul[0];
  return r->shift == 16 && r->add[0] == 1 << 15 && mul == (int16_t)mul && r->low != 0 && count >= 4u;
}

/* Any rule, any number of elements. */
static __attribute__((noinline)) void any_piece(const struct tvm_pulp_requant *r, const uint8_t *a, const int8_t *b,
                                                const int8_t *table, uint8_t *y, uint32_t count) {
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  uint32_t n = count >> 2;
  FOUR_LOCALS;
  if (n == 0u) {
    /* Only the rest. */
  } else if (is_rounded(r, count)) {
    LOOP_ROUNDED;
  } else {
    FOUR_BY_RANGE(r, LOOP(XP_CLIPUR), LOOP(XP_CLIPR));
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = tvm_pulp_one(r, table[a[i]] * b[i], mul, add);
}

/* Often a few values are most of the data, and all cores would wait for one bank: a core has a copy of the table, which
 * begins in a bank of its own. */
static __attribute__((noinline)) void much(const struct tvm_pulp_gate_args *args, struct tvm_pulp_range range,
                                           uint32_t core) {
  uint32_t room[TABLE_WORDS + 16], *table = room + (core & 15u), begin = range.begin;
  tvm_pulp_copy_words(table, args->table, TABLE_WORDS);
  any_piece(&args->requant, args->a + begin, args->b + begin, (const int8_t *)table, args->y + begin, range.end - begin);
}

/* Few whole words, of a token, are the usual case: its code is small, since it is cold. */
TVM_PULP_KERNEL(gate) {
  const struct tvm_pulp_requant *r = &args->requant;
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  uint32_t count = range.end - range.begin, n = count >> 2;
  const uint8_t *a = args->a + range.begin;
  const int8_t *b = args->b + range.begin, *table = args->table;
  uint8_t *y = args->y + range.begin;
  int32_t mul = r->mul[0], add = 0, w0, w1, w2, w3;
  FOUR_LOCALS;
  if (count >= MUCH) {
    much(args, range, core);
  } else if ((count & 3u) == 0u && is_rounded(r, count)) {
    LOOP_ROUNDED;
  } else {
    any_piece(r, a, b, table, y, count);
  }
}
