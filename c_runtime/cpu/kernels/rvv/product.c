/* SPDX-License-Identifier: Apache-2.0
 *
 * Six pixels times 16 channels: sums of a pixel are four registers, weights of a depth two, and a value of each pixel
 * is multiplied with all of them. */
#include "product.h"

/* All pixels of a block; vectors without a size are no elements of arrays. */
#define SIX(each) each(0) each(1) each(2) each(3) each(4) each(5)
#define ONE(each) each(0)

#define BEGIN(i)                                          \
  vint32m4_t sum##i = __riscv_vle32_v_i32m4(scale, 16);   \
  const int8_t *value##i = (const int8_t *)product->patch + i * depth;
#define MULTIPLY(i) sum##i = __riscv_vwmacc_vx_i32m4(sum##i, value##i[d], weights, 16);
#define STORE(i) tvm_pulp_store((int8_t *)product->y[i] + 16 * number * bytes, sum##i, scale, 16, saturation);

#define BLOCKS(name, pixels)                                                                                      \
  TVM_PULP_INLINE void name(const struct tvm_pulp_product *product, const enum tvm_pulp_saturation saturation) {  \
    const int32_t depth = product->depth, bytes = saturation == TVM_PULP_S32 ? 4 : 1;                             \
    const int8_t *weight = product->weight;                                                                       \
    const int32_t *scale = product->scale;                                                                        \
    for (int32_t number = 0; number < product->blocks; number++, scale += tvm_pulp_scale_words(16, saturation)) { \
      pixels(BEGIN);                                                                                              \
      _Pragma("GCC unroll 4") for (int32_t d = 0; d < depth; d++, weight += 16) {                                 \
        const vint16m2_t weights = __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1(weight, 16), 16);                  \
        pixels(MULTIPLY)                                                                                          \
      }                                                                                                           \
      pixels(STORE)                                                                                               \
    }                                                                                                             \
  }

BLOCKS(six_pixels, SIX)
BLOCKS(one_pixel, ONE)

TVM_PULP_INLINE void blocks(const struct tvm_pulp_product *product, const int32_t pixels,
                            const enum tvm_pulp_saturation saturation) {
  if (pixels > 1)
    six_pixels(product, saturation);
  else
    one_pixel(product, saturation);
}

#include "product_functions.h"
