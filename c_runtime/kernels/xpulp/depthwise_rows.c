/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"

#include "four_elements.h"

#define NARROW(CLIP)                                                                     \
  "mul %[x0],%[x0],%[m]\n" XP_ADDNR("%[x0]", "%[a]", "%[sh]") CLIP("%[x0]", "%[x0]", "%[h]"), \
      [m] "r"(mul), [a] "r"(add), [sh] "r"(shift), [h] "r"(high)
#define ROWS_BY_RANGE(ROWS) FOUR_BY_RANGE(requant, ROWS(NARROW(XP_CLIPUR)), ROWS(NARROW(XP_CLIPR)))

void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const uint32_t at = p->args->requant.per_channel ? rows->channel : 0u;
  THREE_ROWS_LOCALS;
  int32_t mul = requant->mul[at], shift = requant->shift, high = requant->high;
  /* (sum + bias) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t add = tvm_pulp_xp_mac(requant->add[at], args->bias[rows->channel], mul);
  if (args->x_type == TVM_PULP_UINT8) {
    ROWS_BY_RANGE(THREE_UNSIGNED_ROWS);
  } else {
    ROWS_BY_RANGE(THREE_SIGNED_ROWS);
  }
}
