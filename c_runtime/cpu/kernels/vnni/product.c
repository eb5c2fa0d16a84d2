/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight pixels times two vectors of 16 channels: sixteen sums, two vectors of weights, and four bytes of a pixel at a
 * time in all lanes. */
#include "vector_product.h"
