/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the cluster cores: `xpulp/` for XpulpV2 cores, `rv32im/` some of them for cores that share a multiplier,
 * `rv32/` for a core with its own, `generic/` those that beat generated C on every other machine. In plain C, as
 * tvm_pulp_plain_<op>, the headers of include/tvm_pulp/plain have those that others fall back to; the project's tests
 * have all others. All give the same bits.
 *
 *   void tvm_pulp_kernel_<op>(const struct tvm_pulp_<op>_args *args, uint32_t core, uint32_t cores);
 *
 * All cores of a team call a kernel with the same arguments and their own number; a kernel does its share and returns.
 * No kernel waits for another core: the caller puts a barrier before the results are read. Operands are in L1, tensors
 * row major, activations NHWC. Strides are in bytes. Rules that hold everywhere:
 *
 *   - Tensors of bytes may start anywhere unless a field says "word aligned"; int32 tensors are word aligned. Word
 *     aligned bytes are faster.
 *   - Up to three bytes behind the last byte of an input may be read (and do not matter); none is written.
 *   - Every size is at least 1.
 *   - Packed weights: blocks of four columns (output channels), one after the other, the last one reaching back to
 *     column `columns - 4` where columns are not a multiple of four (with less than four columns: filled up with
 *     zeros). In a block, four bytes of the depth of the first column, then of the second, third and fourth, then the
 *     next four of the depth; zeros beyond the depth. tvm_pulp_packed_at() in packed_weights.h is the rule.
 *   - A scratch area belongs to one call; core c uses the bytes from c * scratch_stride on, and nothing of it needs to
 *     be initialised. The fields say how large scratch_stride must be; it is a multiple of 4. An odd multiple of 4 keeps
 *     the cores out of each other's banks. */
#ifndef TVM_PULP_KERNELS_H
#define TVM_PULP_KERNELS_H

#include <stdint.h>

enum tvm_pulp_type {
  TVM_PULP_INT8 = 0,
  TVM_PULP_UINT8 = 1,
  TVM_PULP_INT32 = 2,
  TVM_PULP_INT16 = 3, /* of dense only, as UINT16 */
  TVM_PULP_UINT16 = 4
};

/* Meaning of `add`: pulp and shift the summand, tflite the exponent, half_* the shift. `mul` is the multiplier, for
 * shift the shift. The tflite multiplier is not negative and its accumulator stays within 2^29. pulp_narrow promises
 * that acc * mul + add fits 32 bits, shift* that acc + add does; shift* are for tvm_pulp_kernel_requantize only.
 * shift_even: where 32 is added to the shift, an odd multiple of the unit, counted from the zero point, loses one:
 * halves to even. shift_away: where acc + add is below zero it loses `shift`, then half a unit and the zero point come
 * to it; shifts are 1 or more and all of it fits 32 bits. */
enum tvm_pulp_requant_kind {
  TVM_PULP_REQUANT_NONE = 0,
  TVM_PULP_REQUANT_PULP_NARROW = 1,
  TVM_PULP_REQUANT_PULP_WIDE = 2,
  TVM_PULP_REQUANT_TFLITE = 3,
  TVM_PULP_REQUANT_HALF_UP = 4,
  TVM_PULP_REQUANT_HALF_EVEN = 5,
  TVM_PULP_REQUANT_SHIFT = 6,
  TVM_PULP_REQUANT_SHIFT_EVEN = 7,
  TVM_PULP_REQUANT_SHIFT_AWAY = 8
};

/* <float biases> */
/* Further kinds, of layers with constant weights. offset_half_even: `add` is an offset of the product, a multiple of 64,
 * plus the shift. high_word: `mul` points to constants of each channel, per_channel is 1, `shift` is a number of bits and
 * `zero_point` what is added behind: with the accumulator limited to 32 - shift bits, the result is
 * ((acc << shift) * mul >> 32) + add >> right, plus the zero point. All sums fit 32 bits. Where no accumulator is beyond
 * the limit, TVM_PULP_WITHIN_LIMIT is added to `shift`. */
enum { TVM_PULP_REQUANT_OFFSET_HALF_EVEN = 9, TVM_PULP_REQUANT_HIGH_WORD = 10, TVM_PULP_WITHIN_LIMIT = 32 };
struct tvm_pulp_high_word {
  uint32_t mul;
  int32_t add, right;
};
/* </float biases> */

struct tvm_pulp_requant {
  uint32_t kind;        /* enum tvm_pulp_requant_kind; none: the result is int32 */
  uint32_t per_channel; /* 0: mul and add hold one element, 1: one per channel */
  uint32_t wide_result; /* 0: the result is stored as a byte, 1: as int32, 2: as 16 bits */
  const int32_t *mul, *add;
  int32_t shift; /* pulp: the shift. tflite, half_up: 1 promises to dense, conv2d and depthwise_conv2d that accumulators
                    stay within 2^29, multipliers are not negative, exponents are from -20 to -1 or shifts from 32 to
                    51, zero point, low and high are from -128 to 255, and high - low is odd; else 0 */
  int32_t zero_point;
  int32_t low, high;
};

/* y[batch][rows][columns] = (a - zero_point_a) * (b - zero_point_b): two activations. */
struct tvm_pulp_matmul_args {
  const int8_t *a, *b;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 8 * (depth rounded up to 4) + 4, or 4 * depth + 4 where a is word
                       aligned and depth, a_stride and a_batch_stride are multiples of 4 and the first two equal */
  uint32_t scratch_stride;
  uint32_t batch, rows, columns, depth;
  uint32_t a_stride, b_stride, y_stride, a_batch_stride, b_batch_stride, y_batch_stride;
  uint32_t transpose_b; /* 1: b is [columns][depth], 0: [depth][columns] */
  uint32_t a_type, b_type;
  int32_t zero_point_a, zero_point_b;
  struct tvm_pulp_requant requant;
};

/* Convolution of one image. The kernel reads pad_value where the window leaves the image; with a zero point z that is
 * z, and the bias holds -z times the sum of the weights. Groups are separate calls: x, weight, bias, y of the group,
 * and the pixel strides of the whole tensors. */
struct tvm_pulp_conv2d_args {
  const int8_t *x;
  const int8_t *weight; /* packed, word aligned; the depth is kernel rows, kernel columns, channels */
  const int32_t *bias;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * depth_stride + 4; room for more windows saves calls */
  uint32_t scratch_stride;
  uint32_t height, width, channels;
  uint32_t out_height, out_width, out_channels;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_y, stride_x, dilation_y, dilation_x;
  uint32_t pad_top, pad_left;
  int32_t pad_value;
  uint32_t y_pixel_stride;
  uint32_t depth_stride; /* kernel_height * kernel_width * channels rounded up to a multiple of 4 */
  uint32_t x_type;
  int32_t weight_offset; /* as in dense; padding counts with its value */
  struct tvm_pulp_requant requant;
};

/* Every channel by itself, `multiplier` results of each: output channel c reads channel c / multiplier. weight[output
 * channels][kernel_height][rows as packed_weights.h says], word aligned. Callers may exchange the axes x and y. */
struct tvm_pulp_depthwise_conv2d_args {
  const int8_t *x, *weight;
  const int32_t *bias;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * plane_rows * plane_stride + 4 * (out_width rounded up to a
                       multiple of 4); room for the sums of more than one output row is faster */
  uint32_t scratch_stride;
  uint32_t plane_stride; /* pad_left and (max(out_width, 4) - 1) * stride_x + (columns of a window rounded up to 4), each
                            rounded up to a multiple of 4, plus 4 */
  uint32_t plane_rows;   /* image rows that are turned at a time, at least those of a window; more is faster */
  uint32_t height, width, channels, multiplier;
  uint32_t out_height, out_width;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_y, stride_x, dilation_y, dilation_x;
  uint32_t pad_top, pad_left;
  int32_t pad_value;
  uint32_t x_row_stride, x_pixel_stride, y_row_stride, y_pixel_stride; /* bytes */
  uint32_t x_type;
  struct tvm_pulp_requant requant;
};

/* Every channel of a small picture by itself, `multiplier` results of each, with a weight for every pixel and output:
 * y[outputs][c] = sum of weight[c][outputs][pixels rounded up to 4] * x[pixels][c / multiplier] + bias[c][outputs]. */
struct tvm_pulp_small_depthwise_args {
  const int8_t *x, *weight; /* zeros behind the pixels; word aligned */
  const int32_t *bias;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * (pixels rounded up to 4) + 16 * multiplier * outputs */
  uint32_t scratch_stride;
  uint32_t pixels; /* at most 16 */
  uint32_t outputs, channels, multiplier;
  uint32_t x_type;
  struct tvm_pulp_requant requant;
};

/* y = requantize(f(a) * mul_a + g(b) * mul_b) element by element, rows of `columns` elements. f and g are tables over
 * the 256 values of a byte: narrow (int8), wide (int32), or the value itself when both pointers are null. Tables hold
 * whatever comes before the sum: an inner requantization with its saturation, TFLite's common scale, a minus sign. A
 * stride of 0 repeats one row. Per-channel requantization runs along the columns. With a table of sums, which asks for
 * bytes or narrow tables on both sides, y = sum_table[f(a) + g(b) - sum_low]. */
struct tvm_pulp_add_args {
  const void *a, *b;
  void *y;
  const int8_t *table_a, *table_b;
  const int32_t *wide_table_a, *wide_table_b;
  uint32_t rows, columns;
  uint32_t a_stride, b_stride, y_stride;
  uint32_t a_type; /* int32 only without table */
  uint32_t b_type;
  int32_t mul_a, mul_b;
  const uint8_t *sum_table; /* or null */
  int32_t sum_low;
  struct tvm_pulp_requant requant;
};

/* y = (a * mul_a + b * mul_b + add) >> shift, from low to high; bytes, and nothing leaves 32 bits. A stride of 0
 * repeats one row. */
struct tvm_pulp_add_in_range_args {
  const uint8_t *a, *b;
  uint8_t *y;
  uint32_t rows, columns;
  uint32_t a_stride, b_stride, y_stride;
  uint32_t a_type, b_type;
  int32_t mul_a, mul_b, add;
  uint32_t shift;
  int32_t low, high;
};

/* Any function of two bytes, by a table of 65536 results: y = table[256 * a + b], both as unsigned bytes. */
struct tvm_pulp_lookup_pairs_args {
  const uint8_t *a, *b;
  uint8_t *y;
  const uint8_t *table;
  uint32_t count;
};

/* y = requantize((a - zero_point_a) * (b - zero_point_b)). */
struct tvm_pulp_mul_args {
  const void *a, *b;
  void *y;
  uint32_t rows, columns;
  uint32_t a_stride, b_stride, y_stride;
  uint32_t a_type, b_type;
  int32_t zero_point_a, zero_point_b;
  struct tvm_pulp_requant requant;
};

/* y = requantize(table[a] * b), entries in the order of the bytes of a; the narrow PULP form, per tensor, to bytes. */
struct tvm_pulp_gate_args {
  const uint8_t *a;
  const int8_t *b, *table;
  uint8_t *y;
  uint32_t count;
  struct tvm_pulp_requant requant;
};

/* y = requantize(x - zero_point); per_row: channels are rows, not columns. Of a picture some rows may be taken: there
 * are `lines` times `rows` of them, lines of x are x_line_stride apart, and the rows of y follow each other. */
struct tvm_pulp_requantize_args {
  const void *x;
  void *y;
  uint32_t lines; /* 1; more only for int32 of a multiple of four channels, each with its shift or half_up rule, without
                     a zero point of x, to bytes */
  uint32_t x_line_stride;
  uint32_t rows, columns;
  uint32_t x_stride, y_stride;
  uint32_t x_type;
  uint32_t per_row;
  int32_t zero_point;
  struct tvm_pulp_requant requant;
};

/* y = table[x]: any function of a byte, SiLU for one. */
struct tvm_pulp_lookup_args {
  const uint8_t *x;
  uint8_t *y;
  const uint8_t *table; /* 256 results, indexed by the byte as unsigned */
  uint32_t count;
};

/* y = requantize(x * (clip(x + three, 0, six) * one_over_six)). */
struct tvm_pulp_hardswish_args {
  const void *x;
  void *y;
  uint32_t rows, columns;
  uint32_t x_stride, y_stride;
  uint32_t x_type;
  int32_t three, six, one_over_six;
  struct tvm_pulp_requant requant;
};

/* Polynomial GELU of integer.h, requantized. */
struct tvm_pulp_gelu_args {
  const void *x;
  void *y;
  uint32_t rows, columns;
  uint32_t x_stride, y_stride;
  uint32_t x_type;
  int32_t b, one;
  struct tvm_pulp_requant requant;
};

/* Softmax over the last axis of 8-bit rows. Dense: rows follow each other without a gap. */
struct tvm_pulp_i_softmax_args {
  const uint8_t *x;
  uint8_t *y;
  const uint32_t *table; /* 256 entries: the one at 255 - d is 1 + (levels - 1) * exponential of the distance d. The
                            last is the largest; below 2^27 it is faster */
  uint8_t *scratch;      /* word aligned; scratch_stride >= 4 * columns + 16 */
  uint32_t scratch_stride;
  uint32_t rows, columns;
  uint32_t x_type; /* int8 or uint8 */
  uint32_t levels; /* at most 256; the exponentials of a row times levels - 1 stay below 2^31 in sum */
};

struct tvm_pulp_softmax_ita_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t rows, columns;
  uint32_t x_type;
  uint32_t levels;
  uint32_t group; /* 0: whole row (ita_max); else elements per group (ita_partial_max, int8 only) */
};

/* TFLite's reference softmax, int8 to int8. */
struct tvm_pulp_softmax_tflite_args {
  const int8_t *x;
  int8_t *y;
  const int32_t *table; /* 256 entries: the one at 255 - d is the Q0.31 exponential of the distance d, 0 below
                           `smallest` */
  uint32_t rows, columns;
};

/* y = clip((x * weight / isqrt(mean(x^2) + 1)) >> shift, -levels/2, levels/2 - 1), rows without a gap.
 *
 * Weights (and biases) are given either as integers or, for bytes and at most 256 levels in columns of four, as reals
 * 2^(16 - shift) as large, exact, `lift` more where they are biases. Single precision then makes a result that is less
 * than `lift` units of 2^-16 too small and less than `near - lift` too large, before it is rounded down and clipped. */
struct tvm_pulp_rms_norm_args {
  const void *x;
  const int32_t *double_weight; /* twice the weights */
  const float *real_weight;
  void *y;                      /* bytes up to 256 levels, int32 above */
  uint32_t rows, columns;
  uint32_t x_type;
  uint32_t levels;
  int32_t shift;
  uint32_t lift, near;
  uint32_t wide; /* 0 promises |x * weight| + (root << shift) < 2^30 */
};

/* The same of bytes where one weight is for all columns: y = clip((x * factors[isqrt(mean(x^2) + 1)] + add) >> shift). */
struct tvm_pulp_uniform_norm_args {
  const void *x;
  const int32_t *factors;
  void *y;
  uint32_t rows, columns;
  uint32_t x_type;
  uint32_t levels; /* at most 256 */
  int32_t add, shift;
};

/* y = clip((d * weight / isqrt(mean(d^2) + 1) + bias) >> shift, ...), d = x - mean(x). */
struct tvm_pulp_layer_norm_args {
  const void *x;
  const int32_t *double_weight; /* twice the weights */
  const int32_t *bias;
  const float *real_weight, *real_bias;
  void *y;
  uint32_t rows, columns;
  uint32_t x_type;
  uint32_t levels;
  int32_t shift;
  uint32_t lift, near;
  uint32_t wide; /* 0 promises |d * weight| < 2^30 and that the quotient plus bias fits 32 bits */
};

/* y[s][h] = requantize(x[s][h] * rotation[s]): heads of `size` elements, rotation[s] is a size x size matrix. */
struct tvm_pulp_rope_args {
  const int8_t *x, *rotation;
  void *y;
  uint32_t positions, heads, size;
  struct tvm_pulp_requant requant; /* per tensor */
};

#include "tvm_pulp/attention_kernels.h"
#include "tvm_pulp/decoder_kernels.h"
#include "tvm_pulp/dense_kernels.h"
#include "tvm_pulp/movement_kernels.h"
#include "tvm_pulp/pair_kernels.h"
#include "tvm_pulp/qdq_kernels.h"
#include "tvm_pulp/tile_kernels.h"

#define TVM_PULP_KERNEL(name) \
  void tvm_pulp_kernel_##name(const struct tvm_pulp_##name##_args *args, uint32_t core, uint32_t cores)
TVM_PULP_KERNEL(dense); TVM_PULP_KERNEL(matmul); TVM_PULP_KERNEL(conv2d); TVM_PULP_KERNEL(depthwise_conv2d);
TVM_PULP_KERNEL(add); TVM_PULP_KERNEL(add_pairs); TVM_PULP_KERNEL(mul); TVM_PULP_KERNEL(quantize);
TVM_PULP_KERNEL(dequantize); TVM_PULP_KERNEL(qdq_mul); TVM_PULP_KERNEL(requantize); TVM_PULP_KERNEL(requantize_add);
TVM_PULP_KERNEL(lookup); TVM_PULP_KERNEL(hardswish); TVM_PULP_KERNEL(gelu); TVM_PULP_KERNEL(i_softmax);
TVM_PULP_KERNEL(softmax_ita); TVM_PULP_KERNEL(softmax_tflite); TVM_PULP_KERNEL(rms_norm);
TVM_PULP_KERNEL(layer_norm); TVM_PULP_KERNEL(qdq_norm); TVM_PULP_KERNEL(rope); TVM_PULP_KERNEL(qdq_rope);
TVM_PULP_KERNEL(attention); TVM_PULP_KERNEL(attention_weights); TVM_PULP_KERNEL(bit_planes);
TVM_PULP_KERNEL(qdq_attention); TVM_PULP_KERNEL(past_qdq_attention); TVM_PULP_KERNEL(qdq_weights);
TVM_PULP_KERNEL(row_sums); TVM_PULP_KERNEL(small_depthwise); TVM_PULP_KERNEL(spread_lookup);
TVM_PULP_KERNEL(rotary); TVM_PULP_KERNEL(past_attention); TVM_PULP_KERNEL(past_scores); TVM_PULP_KERNEL(past_mix);
TVM_PULP_KERNEL(past_mean); TVM_PULP_KERNEL(transpose); TVM_PULP_KERNEL(copy_rows); TVM_PULP_KERNEL(im2col);
TVM_PULP_KERNEL(space_to_depth); TVM_PULP_KERNEL(add_accumulators); TVM_PULP_KERNEL(mean_pool);
TVM_PULP_KERNEL(resize); TVM_PULP_KERNEL(long_dense); TVM_PULP_KERNEL(bias_of_rest); TVM_PULP_KERNEL(to_blocks);
TVM_PULP_KERNEL(from_blocks); TVM_PULP_KERNEL(requantize_table); TVM_PULP_KERNEL(settle);
TVM_PULP_KERNEL(value_groups); TVM_PULP_KERNEL(group_norm);
TVM_PULP_KERNEL(uniform_norm); TVM_PULP_KERNEL(softmax_table); TVM_PULP_KERNEL(gate); TVM_PULP_KERNEL(requantize_sum);
TVM_PULP_KERNEL(join_planes); TVM_PULP_KERNEL(add_in_range); TVM_PULP_KERNEL(lookup_pairs);
TVM_PULP_KERNEL(requantize_add_table); TVM_PULP_KERNEL(requantize_add_sum); TVM_PULP_KERNEL(nibble_dense);
void tvm_pulp_kernel_max_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores);
void tvm_pulp_kernel_avg_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores);
void tvm_pulp_kernel_past_mix_by_element(const struct tvm_pulp_past_mix_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_KERNELS_H */
