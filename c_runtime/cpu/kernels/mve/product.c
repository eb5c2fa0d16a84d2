/* SPDX-License-Identifier: Apache-2.0
 *
 * Two pixels times four channels, a sum in each of eight registers: 16 depths of a pixel and a channel at once. */
#include "vector_product.h"
