/* SPDX-License-Identifier: Apache-2.0
 *
 * To bytes, with a multiplier and a summand for each channel. */
#ifndef TVM_PULP_REQUANTIZE_BYTES_H
#define TVM_PULP_REQUANTIZE_BYTES_H

#include "tvm_pulp/kernels.h"

/* Whether the function below takes them: narrow PULP form, four columns or more where these are the channels, bytes where
 * rows are. */
static inline uint32_t tvm_pulp_are_channels_to_bytes(const struct tvm_pulp_requantize_args *p) {
  const struct tvm_pulp_requant *r = &p->requant;
  return r->per_channel && r->kind == TVM_PULP_REQUANT_PULP_NARROW && !r->wide_result &&
         (p->per_row ? p->x_type != TVM_PULP_INT32 : p->columns >= 4u);
}

/* Columns are channels, or rows are. Shares rows where there are enough of them, else groups of four columns; where
 * rows are channels, what is stored one after the other. */
void tvm_pulp_requantize_bytes(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_REQUANTIZE_BYTES_H */
