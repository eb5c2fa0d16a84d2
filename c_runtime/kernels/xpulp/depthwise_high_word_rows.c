/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"
#include "scaled.h"

/* Accumulators that are within the limit, and results that are where the clip leaves them, take two instructions less. */
#define HIGH_WORD(LIMIT, MOVE)                                                                                      \
  "add %[x0],%[x0],%[b]\n" LIMIT "sll %[x0],%[x0],%[left]\nmulhsu %[x0],%[x0],%[m]\n"                              \
  XP_ADDNR("%[x0]", "%[a]", "%[sh]") XP_CLIPR("%[x0]", "%[x0]", "%[h]") MOVE, [b] "r"(bias), [most] "r"(s.offset), \
      [left] "r"(s.factor), [m] "r"(c->mul), [a] "r"(c->add), [sh] "r"(c->right), [h] "r"(s.high), [mid] "r"(s.middle)
#define WITHIN HIGH_WORD("", "")
#define LIMITED HIGH_WORD(XP_CLIPR("%[x0]", "%[x0]", "%[most]"), "add %[x0],%[x0],%[mid]\n")

void tvm_pulp_depthwise_three_high_word_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  THREE_ROWS_LOCALS;
  const struct tvm_pulp_scaled s = tvm_pulp_high_word_of(requant);
  const struct tvm_pulp_high_word *c = (const struct tvm_pulp_high_word *)(const void *)requant->mul + rows->channel;
  int32_t bias = args->bias[rows->channel];
  if ((requant->shift & TVM_PULP_WITHIN_LIMIT) && s.middle == 0u) {
    XP_BY_SIGN(args->x_type, THREE_SIGNED_ROWS(WITHIN), THREE_UNSIGNED_ROWS(WITHIN));
  } else {
    XP_BY_SIGN(args->x_type, THREE_SIGNED_ROWS(LIMITED), THREE_UNSIGNED_ROWS(LIMITED));
  }
}
