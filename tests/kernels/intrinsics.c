/* SPDX-License-Identifier: Apache-2.0
 *
 * Every intrinsic of xpulp.h on `rows` triples of words; results in the order of RESULTS. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

void tvm_pulp_kernel_intrinsics(const struct tvm_pulp_copy_rows_args *args, uint32_t core, uint32_t cores);

void tvm_pulp_kernel_intrinsics(const struct tvm_pulp_copy_rows_args *args, uint32_t core, uint32_t cores) {
  const int32_t *x = args->x;
  int32_t *y = args->y;
  (void)cores;
  if (core != 0u) return;
  for (uint32_t row = 0; row < args->rows; ++row, x += 3) {
    int32_t d = x[0], a = x[1], b = x[2];
    *y++ = tvm_pulp_xp_min(a, b);
    *y++ = tvm_pulp_xp_max(a, b);
    *y++ = tvm_pulp_xp_clipr(a, b & 0x7fff);
    *y++ = tvm_pulp_xp_clipur(a, b & 0x7fff);
    *y++ = tvm_pulp_xp_abs(a);
    *y++ = tvm_pulp_xp_fl1(a);
    *y++ = tvm_pulp_xp_ff1(a);
    *y++ = tvm_pulp_xp_mac(d, a, b);
    *y++ = tvm_pulp_xp_msu(d, a, b);
    *y++ = tvm_pulp_xp_add_shift(d, a, b);
    *y++ = tvm_pulp_xp_add_round_shift(d, a, b);
    *y++ = tvm_pulp_xp_dotsp4(a, b);
    *y++ = tvm_pulp_xp_dotusp4(a, b);
    *y++ = tvm_pulp_xp_sdotsp4(d, a, b);
    *y++ = tvm_pulp_xp_sdotup4(d, a, b);
    *y++ = tvm_pulp_xp_sdotusp4(d, a, b);
    *y++ = tvm_pulp_xp_sdotsp2(d, a, b);
    *y++ = tvm_pulp_xp_sdotusp2(d, a, b);
    *y++ = tvm_pulp_xp_add4(a, b);
    *y++ = tvm_pulp_xp_sub4(a, b);
    *y++ = tvm_pulp_xp_max4(a, b);
    *y++ = tvm_pulp_xp_maxu4(a, b);
    *y++ = tvm_pulp_xp_minu4(a, b);
    *y++ = tvm_pulp_xp_pack_h(a, b);
    *y++ = tvm_pulp_xp_packlo(d, a, b);
    *y++ = tvm_pulp_xp_packhi(d, a, b);
    *y++ = tvm_pulp_xp_shuffle2_b(d, a, b);
    *y++ = tvm_pulp_xp_shuffle2_h(d, a, b);
    *y++ = tvm_pulp_xp_word((const uint8_t *)x + (row & 3u));
    int32_t w[4] = {d, a, b, d ^ a};
    tvm_pulp_xp_transpose4(w);
    for (uint32_t i = 0; i < 4u; ++i) *y++ = w[i];
  }
}
