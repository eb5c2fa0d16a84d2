/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows whose rows are one word each. */
#ifndef TVM_PULP_WORD_WINDOWS_H
#define TVM_PULP_WORD_WINDOWS_H

#include "tvm_pulp/kernels.h"

/* `im2col` for kernel rows of four bytes without gaps, in images with lines of at least four. */
void tvm_pulp_word_windows(const struct tvm_pulp_im2col_args *a, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_WORD_WINDOWS_H */
