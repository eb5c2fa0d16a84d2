/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels times four vectors of four channels: sixteen sums, four vectors of weights, and 16 values of each pixel,
 * of which four at a time are multiplied with all channels. */
#include "vector_product.h"
