/* SPDX-License-Identifier: Apache-2.0 */
#include "tile.h"
#include "translate.h"

enum { TABLE_WORDS = 64, MUCH = 512 };

/* Often a few values are most of the data, and all cores would wait for one bank: a core has a copy of the table, which
 * begins in a bank of its own. */
static __attribute__((noinline)) void look_much_up(const struct tvm_pulp_lookup_args *args, struct tvm_pulp_range range,
                                                   uint32_t core) {
  uint32_t room[TABLE_WORDS + 16], *table = room + (core & 15u);
  tvm_pulp_copy_words(table, args->table, TABLE_WORDS);
  tvm_pulp_look_up(args->x + range.begin, (const uint8_t *)table, args->y + range.begin, range.end - range.begin);
}

TVM_PULP_KERNEL(lookup) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  if (range.end - range.begin >= MUCH) {
    look_much_up(args, range, core);
  } else {
    tvm_pulp_look_up(args->x + range.begin, args->table, args->y + range.begin, range.end - range.begin);
  }
}
