/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/quantize.h"

TVM_PULP_KERNEL(quantize) { TVM_PULP_QUANTIZE_ROWS(tvm_pulp_plain_quantize_piece) }
