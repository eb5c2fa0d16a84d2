/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels times two vectors of eight channels: eight sums, two vectors of weights, and two values of a pixel at a
 * time in all lanes. */
#include "vector_product.h"
