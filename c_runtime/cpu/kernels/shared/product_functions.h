/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of product.h, by the `blocks(product, pixels, saturation)` that a kind of core has defined before. */
#define PRODUCT(name, saturation)                                                                                        \
  void tvm_pulp_product_##name(const struct tvm_pulp_product *product) { blocks(product, TVM_PULP_PIXELS, saturation); } \
  void tvm_pulp_product_one_##name(const struct tvm_pulp_product *product) { blocks(product, 1, saturation); }

PRODUCT(s8, TVM_PULP_S8)
PRODUCT(u8, TVM_PULP_U8)
PRODUCT(u7, TVM_PULP_U7)
PRODUCT(s8_away, TVM_PULP_S8_AWAY)
PRODUCT(s32, TVM_PULP_S32)
