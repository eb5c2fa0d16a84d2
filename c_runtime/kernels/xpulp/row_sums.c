/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

TVM_PULP_KERNEL(row_sums) {
  struct tvm_pulp_range range = tvm_pulp_share(args->matrices * args->rows, core, cores);
  uint32_t matrix = 0, row = range.begin, words = args->depth >> 2;
  int32_t flip = args->x_type == TVM_PULP_UINT8 ? (int32_t)0x80808080u : 0, word;
  int32_t add = args->add + (flip ? 128 * (int32_t)args->depth : 0);
  for (; row >= args->rows && row > 0u; ++matrix) row -= args->rows;
  for (uint32_t left = range.end - range.begin; left > 0u; --left) {
    const uint8_t *x = args->x + matrix * args->x_matrix_stride + row * args->x_stride;
    int32_t sum = add;
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[x]") "xor %[w],%[w],%[f]\n"
                         XP_LOOP_END XP_SDOTSP("%[s]", "%[w]", "%[o]") XP_END
                     : [x] "+r"(x), [s] "+r"(sum), [w] "=&r"(word)
                     : [n] "r"(words), [f] "r"(flip), [o] "r"(0x01010101)
                     : "memory");
    args->y[matrix * args->y_stride + row] = args->factor * sum;
    if (++row == args->rows) {
      row = 0;
      ++matrix;
    }
  }
}
