/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "tile.h"

enum { TABLE_WORDS = 64, MUCH = 512 };

static inline void look_up(const uint8_t *x, const uint8_t *table, uint8_t *y, uint32_t count) {
  uint32_t n = count >> 2;
  FOUR_LOCALS;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LBU, 1, "%[x]") XP_LBUX("%[v0]", "%[v0]", "%[t]")
                         XP_LBUX("%[v1]", "%[v1]", "%[t]") XP_LBUX("%[v2]", "%[v2]", "%[t]")
                             XP_LBUX("%[v3]", "%[v3]", "%[t]") FOUR_STORE XP_END
                     : FOUR_OUTPUTS, [x] "+r"(x)
                     : [n] "r"(n), [t] "r"(table)
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = table[x[i]];
}

/* Often a few values are most of the data, and all cores would wait for one bank: a core has a copy of the table, which
 * begins in a bank of its own. */
static __attribute__((noinline)) void look_much_up(const struct tvm_pulp_lookup_args *args, struct tvm_pulp_range range,
                                                   uint32_t core) {
  uint32_t room[TABLE_WORDS + 16], *table = room + (core & 15u);
  tvm_pulp_copy_words(table, args->table, TABLE_WORDS);
  look_up(args->x + range.begin, (const uint8_t *)table, args->y + range.begin, range.end - range.begin);
}

TVM_PULP_KERNEL(lookup) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  if (range.end - range.begin >= MUCH) {
    look_much_up(args, range, core);
  } else {
    look_up(args->x + range.begin, args->table, args->y + range.begin, range.end - range.begin);
  }
}
