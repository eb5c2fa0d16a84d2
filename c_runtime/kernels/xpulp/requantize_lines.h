/* SPDX-License-Identifier: Apache-2.0
 *
 * 32-bit numbers of some pixels of a picture, four channels at a time. */
#ifndef TVM_PULP_REQUANTIZE_LINES_H
#define TVM_PULP_REQUANTIZE_LINES_H

#include "tvm_pulp/kernels.h"

/* What kernels.h asks where there is more than one line, with one line or more. Shares groups of four channels where
 * there are enough of them, else lines or the rows of the only one. */
void tvm_pulp_requantize_lines(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_REQUANTIZE_LINES_H */
