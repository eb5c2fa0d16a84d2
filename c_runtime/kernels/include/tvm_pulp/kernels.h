/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the cluster cores. `xpulp/` and `generic/` hold the same functions: the first for XpulpV2 cores, the
 * second in plain C for every other machine. Both give the same bits.
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
 * - A scratch area belongs to one call; core c uses the bytes from c * scratch_stride on, and nothing of it needs to
 * be
 *     initialised. The fields say how large scratch_stride must be; it is a multiple of 4. An odd multiple of 4 keeps
 *     the cores out of each other's banks. */
#ifndef TVM_PULP_KERNELS_H
#define TVM_PULP_KERNELS_H

#include <stdint.h>

#include "tvm_pulp/decoder_kernels.h"

enum tvm_pulp_type {
  TVM_PULP_INT8 = 0,
  TVM_PULP_UINT8 = 1,
  TVM_PULP_INT32 = 2,
  TVM_PULP_INT16 = 3, /* of dense only, as UINT16 */
  TVM_PULP_UINT16 = 4
};

/* Meaning of `add`: pulp and shift the summand, tflite the exponent, half_* the shift. `mul` is the multiplier, for shift
 * the shift. The tflite multiplier is not negative and its accumulator stays within 2^29. pulp_narrow promises that
 * acc * mul + add fits 32 bits, shift that acc + add does; shift is for tvm_pulp_kernel_requantize only. */
enum tvm_pulp_requant_kind {
  TVM_PULP_REQUANT_NONE = 0,
  TVM_PULP_REQUANT_PULP_NARROW = 1,
  TVM_PULP_REQUANT_PULP_WIDE = 2,
  TVM_PULP_REQUANT_TFLITE = 3,
  TVM_PULP_REQUANT_HALF_UP = 4,
  TVM_PULP_REQUANT_HALF_EVEN = 5,
  TVM_PULP_REQUANT_SHIFT = 6
};

struct tvm_pulp_requant {
  uint32_t kind;        /* enum tvm_pulp_requant_kind; none: the result is int32 */
  uint32_t per_channel; /* 0: mul and add hold one element, 1: one per channel */
  uint32_t wide_result; /* 0: the result is stored as a byte, 1: as int32, 2: as 16 bits */
  const int32_t *mul;
  const int32_t *add;
  int32_t shift; /* pulp: the shift. tflite, half_up: 1 promises to dense, conv2d and depthwise_conv2d that accumulators
                    stay within 2^29, multipliers are not negative, exponents are from -20 to -1 or shifts from 32 to
                    51, zero point, low and high are from -128 to 255, and high - low is odd; else 0 */
  int32_t zero_point;
  int32_t low;
  int32_t high;
};

/* y[rows][columns] = x[rows][depth] * weight[columns][depth]^T + bias. A zero point of x is folded into the bias.
 * depth_stride is the depth rounded up to a multiple of 4. Activations of 16 bits meet weights of 16 bits, which are
 * packed as twice as many bytes; depth_stride is then twice the depth rounded up, and there is no weight_offset. */
struct tvm_pulp_dense_args {
  const int8_t *x;
  const int8_t *weight; /* packed, word aligned */
  const int32_t *bias;  /* one per column; null for zeros, allowed for one row of a multiple of four columns with narrow
                           requantization to bytes */
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * depth_stride + 4; unused where x is word aligned and either
                       its rows are depth_stride apart or there is one row */
  uint32_t scratch_stride;
  uint32_t rows;
  uint32_t columns;
  uint32_t depth;
  uint32_t x_stride;
  uint32_t depth_stride;
  uint32_t y_stride;
  uint32_t x_type; /* int8, uint8, int16 or uint16 */
  int32_t weight_offset; /* taken from every weight, so that it fits a byte; times the sum of a row it is added back */
  struct tvm_pulp_requant requant;
};

/* y[batch][rows][columns] = (a - zero_point_a) * (b - zero_point_b): two activations. */
struct tvm_pulp_matmul_args {
  const int8_t *a;
  const int8_t *b;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 8 * (depth rounded up to 4) + 4, or 4 * depth + 4 where a is word
                       aligned and depth, a_stride and a_batch_stride are multiples of 4 and the first two equal */
  uint32_t scratch_stride;
  uint32_t batch;
  uint32_t rows;
  uint32_t columns;
  uint32_t depth;
  uint32_t a_stride;
  uint32_t b_stride;
  uint32_t y_stride;
  uint32_t a_batch_stride;
  uint32_t b_batch_stride;
  uint32_t y_batch_stride;
  uint32_t transpose_b; /* 1: b is [columns][depth], 0: [depth][columns] */
  uint32_t a_type;
  uint32_t b_type;
  int32_t zero_point_a;
  int32_t zero_point_b;
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
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t out_height;
  uint32_t out_width;
  uint32_t out_channels;
  uint32_t kernel_height;
  uint32_t kernel_width;
  uint32_t stride_y;
  uint32_t stride_x;
  uint32_t dilation_y;
  uint32_t dilation_x;
  uint32_t pad_top;
  uint32_t pad_left;
  int32_t pad_value;
  uint32_t x_pixel_stride;
  uint32_t y_pixel_stride;
  uint32_t depth_stride; /* kernel_height * kernel_width * channels rounded up to a multiple of 4 */
  uint32_t x_type;
  int32_t weight_offset; /* as in dense; padding counts with its value */
  struct tvm_pulp_requant requant;
};

/* Every channel by itself; weight[channels][kernel_height][kernel_width rounded up to 4], zeros behind, word
 * aligned. */
struct tvm_pulp_depthwise_conv2d_args {
  const int8_t *x;
  const int8_t *weight;
  const int32_t *bias;
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * plane_rows * plane_stride + 4 * out_width */
  uint32_t scratch_stride;
  uint32_t plane_stride; /* pad_left and (out_width - 1) * stride_x + (kernel_width rounded up to 4), each rounded up
                            to a multiple of 4, plus 4 */
  uint32_t plane_rows;   /* image rows that are turned at a time, at least kernel_height; more is faster */
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t out_height;
  uint32_t out_width;
  uint32_t kernel_height;
  uint32_t kernel_width;
  uint32_t stride_y;
  uint32_t stride_x;
  uint32_t dilation_y;
  uint32_t dilation_x;
  uint32_t pad_top;
  uint32_t pad_left;
  int32_t pad_value;
  uint32_t x_pixel_stride;
  uint32_t y_pixel_stride;
  uint32_t x_type;
  struct tvm_pulp_requant requant;
};

/* y = requantize(f(a) * mul_a + g(b) * mul_b) element by element, rows of `columns` elements. f and g are tables over
 * the 256 values of a byte: narrow (int8), wide (int32), or the value itself when both pointers are null. Tables hold
 * whatever comes before the sum: an inner requantization with its saturation, TFLite's common scale, a minus sign. A
 * stride of 0 repeats one row. Per-channel requantization runs along the columns. With a table of sums, which asks for
 * bytes or narrow tables on both sides, y = sum_table[f(a) + g(b) - sum_low]. */
struct tvm_pulp_add_args {
  const void *a;
  const void *b;
  void *y;
  const int8_t *table_a;
  const int8_t *table_b;
  const int32_t *wide_table_a;
  const int32_t *wide_table_b;
  uint32_t rows;
  uint32_t columns;
  uint32_t a_stride;
  uint32_t b_stride;
  uint32_t y_stride;
  uint32_t a_type; /* int32 only without table */
  uint32_t b_type;
  int32_t mul_a;
  int32_t mul_b;
  const uint8_t *sum_table; /* or null */
  int32_t sum_low;
  struct tvm_pulp_requant requant;
};

/* y = requantize((a - zero_point_a) * (b - zero_point_b)). */
struct tvm_pulp_mul_args {
  const void *a;
  const void *b;
  void *y;
  uint32_t rows;
  uint32_t columns;
  uint32_t a_stride;
  uint32_t b_stride;
  uint32_t y_stride;
  uint32_t a_type;
  uint32_t b_type;
  int32_t zero_point_a;
  int32_t zero_point_b;
  struct tvm_pulp_requant requant;
};

/* y = round((a - zero_point_a) * (b - zero_point_b) * scale), from low to high, plus zero_point: bytes, rounded in single
 * precision. Rows of a and y without a gap. */
struct tvm_pulp_qdq_mul_args {
  const uint8_t *a;
  const uint8_t *b;
  uint8_t *y;
  const float *scale; /* one */
  uint32_t rows;
  uint32_t columns;
  uint32_t b_stride; /* columns, or 0 for one row that is repeated */
  uint32_t a_type;   /* int8 or uint8 */
  uint32_t b_type;
  int32_t zero_point_a;
  int32_t zero_point_b;
  int32_t low; /* of the result, without its zero point */
  int32_t high;
  int32_t zero_point;
};

/* y = requantize(x - zero_point); per_row: channels are rows, not columns. Of a picture some rows may be taken: there
 * are `lines` times `rows` of them, lines of x are x_line_stride apart, and the rows of y follow each other. */
struct tvm_pulp_requantize_args {
  const void *x;
  void *y;
  uint32_t lines; /* 1; more only for int32 of a multiple of four channels, each with its shift or half_up rule, without
                     a zero point of x, to bytes that one instruction clips (low is 0 or -high - 1) */
  uint32_t x_line_stride;
  uint32_t rows;
  uint32_t columns;
  uint32_t x_stride;
  uint32_t y_stride;
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
  uint32_t rows;
  uint32_t columns;
  uint32_t x_stride;
  uint32_t y_stride;
  uint32_t x_type;
  int32_t three;
  int32_t six;
  int32_t one_over_six;
  struct tvm_pulp_requant requant;
};

/* Polynomial GELU of integer.h, requantized. */
struct tvm_pulp_gelu_args {
  const void *x;
  void *y;
  uint32_t rows;
  uint32_t columns;
  uint32_t x_stride;
  uint32_t y_stride;
  uint32_t x_type;
  int32_t b;
  int32_t one;
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
  uint32_t rows;
  uint32_t columns;
  uint32_t x_type; /* int8 or uint8 */
  uint32_t levels; /* at most 256; the exponentials of a row times levels - 1 stay below 2^31 in sum */
};

struct tvm_pulp_softmax_ita_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t rows;
  uint32_t columns;
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
  uint32_t rows;
  uint32_t columns;
};

/* y = clip((x * weight / isqrt(mean(x^2) + 1)) >> shift, -levels/2, levels/2 - 1), rows without a gap. */
struct tvm_pulp_rms_norm_args {
  const void *x;
  const int32_t *double_weight; /* twice the weights */
  void *y;                      /* bytes up to 256 levels, int32 above */
  uint32_t rows;
  uint32_t columns;
  uint32_t x_type;
  uint32_t levels;
  int32_t shift;
  uint32_t wide; /* 0 promises |x * weight| + (root << shift) < 2^30 */
};

/* y = clip((d * weight / isqrt(mean(d^2) + 1) + bias) >> shift, ...), d = x - mean(x). */
struct tvm_pulp_layer_norm_args {
  const void *x;
  const int32_t *double_weight; /* twice the weights */
  const int32_t *bias;
  void *y;
  uint32_t rows;
  uint32_t columns;
  uint32_t x_type;
  uint32_t levels;
  int32_t shift;
  uint32_t wide; /* 0 promises |d * weight| < 2^30 and that the quotient plus bias fits 32 bits */
};

/* Normalization of 8-bit rows with single precision inside; rows without a gap. With a = columns * x - sum(x) if centred,
 * else x - zero_point_x, and `spread` the sum of a^2, by columns if centred:
 *
 *   factor = table[round(spread * reals[0])], or reals[2] / sqrt(spread * reals[0] + reals[1]) without a table
 *   v = a * factor, then v = v * weight + bias for one or two stages
 *
 * Where `rounds` says so, v is rounded to the nearest integer between low and high first. */
struct tvm_pulp_qdq_norm_args {
  const uint8_t *x;
  uint8_t *y;
  const float *reals;
  const float *table; /* from index_low on, or null */
  const float *weight0;
  const float *bias0; /* or null */
  const float *weight1;
  const float *bias1; /* or null */
  uint32_t rows;
  uint32_t columns; /* up to 2^15 */
  uint32_t x_type;  /* int8 or uint8 */
  uint32_t centred;
  uint32_t stages; /* 0 to 2 */
  uint32_t rounds; /* bit 0: before the first stage, bit 1: before the second */
  int32_t zero_point_x;
  int32_t index_low;
  int32_t index_high;
  int32_t low0;
  int32_t high0;
  int32_t low1;
  int32_t high1;
  int32_t low; /* of the result, without its zero point */
  int32_t high;
  int32_t zero_point;
};

/* y[s][h] = requantize(x[s][h] * rotation[s]): heads of `size` elements, rotation[s] is a size x size matrix. */
struct tvm_pulp_rope_args {
  const int8_t *x;
  const int8_t *rotation;
  void *y;
  uint32_t positions;
  uint32_t heads;
  uint32_t size;
  struct tvm_pulp_requant requant; /* per tensor */
};

/* Rotary embedding of rows of `size` bytes, rounded in single precision; zero points are taken out of every operand. The
 * partner of an element is the one half a row away, looked up in `first` in the first half of a row, in `second` in the
 * second.
 *
 *   kept = round(x * cosine * reals[0]), from kept_low to kept_high
 *   turned = round(partner * sine * reals[1]), from turned_low to turned_high
 *   y = round(kept * reals[2] + turned * reals[3]), from low to high, plus zero_point */
struct tvm_pulp_qdq_rope_args {
  const uint8_t *x;
  const uint8_t *cosine; /* [positions][size] */
  const uint8_t *sine;
  const uint8_t *first; /* 256 results, indexed by the byte as unsigned */
  const uint8_t *second;
  const float *reals;
  uint8_t *y;
  uint32_t rows;
  uint32_t size;
  uint32_t rows_per_position; /* rows that follow each other have the same position */
  uint32_t positions;         /* then the next one, and after the last the first again */
  uint32_t x_type;            /* int8 or uint8 */
  uint32_t cosine_type;
  uint32_t sine_type;
  uint32_t partner_type;
  int32_t zero_point_x;
  int32_t zero_point_cosine;
  int32_t zero_point_partner;
  int32_t zero_point_sine;
  int32_t kept_low;
  int32_t kept_high;
  int32_t turned_low;
  int32_t turned_high;
  int32_t low;
  int32_t high;
  int32_t zero_point;
};

/* Attention of all heads: logits = requantize(q . k), then table (any function of the logit), then the mask, then
 * softmax with the exponentials of i_softmax, then the product with v, requantized.
 *
 *   logit = clip(table[requantize(q . k)] + mask, -128, 127)
 *
 * Fast where no mask value is positive, and fastest for heads of four elements with a table and 16-bit exponentials.
 * Strides reach head and position of each tensor, so that no transposed copy is needed. */
struct tvm_pulp_attention_args {
  const int8_t *q;
  const int8_t *k;
  const int8_t *v;
  const int8_t *mask;          /* [queries or 1][keys] or null */
  const uint8_t *table;        /* what a requantized product becomes, plus 128, from logit_requant.low to high; or null
                                  for itself, where that range is within int8 */
  uint32_t table_covers;       /* 1 promises that no product needs to be clipped to that range; 0: it is that of int8 */
  const uint32_t *exponential; /* as in i_softmax; null where the next is given */
  const uint16_t *small_exponential; /* 256 exponentials, the one of distance d at 255 - d, all shifted left by s so
                                        that the last, which is the largest, has 16 bits. Only with heads of four
                                        elements, four keys or more, a table and narrow requantization of the logits,
                                        where keys times the last is below 2^24 and keys times its square below
                                        2^(39 + s) */
  uint32_t skips_from; /* promises, with a small exponential: a query whose largest logit plus 128 is at least this
                          gives weight 0, and probability[0] is 0, to all keys with a mask value of -128; 256: no
                          promise */
  const int8_t *probability;   /* 256 entries: what a softmax weight becomes before the product with v; null: itself */
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= (size + 5 n) * (keys rounded up to 4) for n queries at a time:
                       1 is enough, 16 is the most that is used and the fastest */
  uint32_t scratch_stride;
  uint32_t heads;
  uint32_t queries;
  uint32_t keys;
  uint32_t size; /* of a head: a multiple of 4 */
  uint32_t q_head_stride;
  uint32_t q_stride;
  uint32_t k_head_stride;
  uint32_t k_stride;
  uint32_t v_head_stride;
  uint32_t v_stride;
  uint32_t y_head_stride;
  uint32_t y_stride;
  uint32_t mask_stride; /* 0: one row for all queries */
  uint32_t levels;
  struct tvm_pulp_requant logit_requant; /* to int8 or the range of the table, per tensor */
  struct tvm_pulp_requant requant;       /* per tensor */
};

/* Attention of all heads with single precision between the products; zero points are taken out of q, k and v.
 *
 *   l = round(q . k * reals[0]), from logit_low to logit_high;  u = table[class][l - logit_low]
 *   e = exponential[largest u - u];  p = round(e * (reals[1] / sum of e)), up to probability_high
 *   y = round(p . v * reals[2]), from low to high, plus zero_point
 *
 * `group` heads of q share one of k and v. Strides reach head and position of each tensor. */
struct tvm_pulp_qdq_attention_args {
  const uint8_t *q;
  const uint8_t *k;
  const uint8_t *v;
  const uint8_t *q_table;     /* what a byte of q stands for, indexed by the byte as unsigned; null: itself */
  const uint8_t *k_table;     /* the same for k */
  const uint8_t *mask;        /* classes: [heads or 1][queries or 1][keys], or null for class 0 */
  const uint8_t *table;       /* 256 entries for each class */
  const int32_t *exponential; /* 256 entries of up to 2^24; those of a row stay below 2^31 in sum */
  const float *reals;
  uint8_t *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= (size + 9) * (keys rounded up to 4), and size more with q_table,
                       size * keys more with k_table */
  uint32_t scratch_stride;
  uint32_t heads;
  uint32_t queries;
  uint32_t keys;
  uint32_t size; /* of a head; fast for multiples of 4 */
  uint32_t group;
  uint32_t q_head_stride;
  uint32_t q_stride;
  uint32_t k_head_stride;
  uint32_t k_stride;
  uint32_t v_head_stride;
  uint32_t v_stride;
  uint32_t y_head_stride;
  uint32_t y_stride;
  uint32_t mask_head_stride;
  uint32_t mask_stride; /* 0: one row for all queries */
  uint32_t q_type;      /* int8 or uint8, after the table */
  uint32_t k_type;
  uint32_t v_type;
  int32_t zero_point_q;
  int32_t zero_point_k;
  int32_t zero_point_v;
  int32_t logit_low;
  int32_t logit_high;
  int32_t probability_high; /* up to 255 */
  int32_t low;
  int32_t high;
  int32_t zero_point;
};

/* Windows over an NHWC image; what lies outside does not count. */
struct tvm_pulp_pool_args {
  const int8_t *x;
  int8_t *y;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t out_height;
  uint32_t out_width;
  uint32_t kernel_height;
  uint32_t kernel_width;
  uint32_t stride_y;
  uint32_t stride_x;
  uint32_t dilation_y;
  uint32_t dilation_x;
  uint32_t pad_top;
  uint32_t pad_left;
  uint32_t x_type;
  int32_t low; /* avg_pool clips */
  int32_t high;
};

/* The sum of a window's values less the zero point, requantized to bytes: a multiplier that divides makes it a mean. */
struct tvm_pulp_mean_pool_args {
  struct tvm_pulp_pool_args pool; /* low and high do not matter */
  int32_t zero_point;
  struct tvm_pulp_requant requant; /* per tensor */
};

/* y[i0][i1][i2][i3] = x[i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3]: a transpose of up to four axes, y dense. */
struct tvm_pulp_transpose_args {
  const void *x;
  void *y;
  uint32_t element_bytes; /* 1 or 4 */
  uint32_t size0;
  uint32_t size1;
  uint32_t size2;
  uint32_t size3;
  uint32_t stride0;
  uint32_t stride1;
  uint32_t stride2;
  uint32_t stride3;
};

/* Rows of bytes from one place to another: one operand of a concatenation, a slice, a KV-cache append. */
struct tvm_pulp_copy_rows_args {
  const void *x;
  void *y;
  const uint8_t *table; /* 256 entries: what each byte becomes; null: itself */
  uint32_t table_stride; /* from one core's table to the next one's; 0: one for all. Cores that look up the same bytes
                            do not wait for each other where their tables begin in different banks */
  uint32_t rows;
  uint32_t row_bytes;
  uint32_t x_stride;
  uint32_t y_stride;
};

/* Windows of an NHWC image as rows of a matrix: y[out_height * out_width][kernel rows, kernel columns, channels], with
 * pad_value where the window leaves the image. Bytes are moved, signed or not. */
struct tvm_pulp_im2col_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t out_height;
  uint32_t out_width;
  uint32_t kernel_height;
  uint32_t kernel_width;
  uint32_t stride_y;
  uint32_t stride_x;
  uint32_t dilation_y;
  uint32_t dilation_x;
  uint32_t pad_top;
  uint32_t pad_left;
  int32_t pad_value;
};

/* Blocks of 2 x 2 pixels as channels: y[height][width][4 * channels]. From planes x[channels][2 * height][2 * width] the
 * channels of y are ordered by plane, row, column; from pixels x[2 * height][2 * width][channels] by row, column,
 * channel. `flip` is exclusive-ored to every byte: 0x80 makes int8 unsigned. */
struct tvm_pulp_space_to_depth_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t height; /* of the result */
  uint32_t width;
  uint32_t channels; /* of the input */
  uint32_t is_planar;
  uint32_t flip;
};

/* y = clip(round(a + b)) of two results in units of their own, in fixed point with `fraction` bits, 1 to 20. A 32-bit
 * operand becomes (x << left) * mul[column] >> 32, a byte (x - zero_point) * mul[0]; both stay below 2^29, and
 * x << left inside 32 bits. */
struct tvm_pulp_add_accumulators_args {
  const void *a;
  const void *b;
  uint8_t *y;
  const int32_t *mul_a; /* [columns] of a 32-bit operand, one of bytes */
  const int32_t *mul_b;
  uint32_t rows;
  uint32_t columns;
  uint32_t a_type;
  uint32_t b_type;
  uint32_t left_a;
  uint32_t left_b;
  int32_t zero_point_a; /* of bytes */
  int32_t zero_point_b;
  uint32_t fraction;
  int32_t zero_point; /* -128 to 255, as the limits */
  int32_t low;
  int32_t high;
};

/* Every pixel of y[out_height][out_width][channels] is a weighted mean of a few pixels of x[][width][channels]:
 *
 *   acc = sum over column taps of weight * ((sum over row taps of weight * x + half) >> middle) - zero_point * 2^fraction
 *
 * Weights of a row, and of a column, add up to a power of two. Results within `slack` of a half are decided by the sum of
 * floats, row by row, where `thresholds` is given: the smallest sum that becomes the next integer. Fast with two row and
 * two column taps, middle 0, weights up to 2^6 in all and channels in fours; without weights the pixels are copied. */
struct tvm_pulp_resize_args {
  const uint8_t *x;
  uint8_t *y;
  const int32_t *rows; /* [out_height][row_taps] of the image; x begins with row first_row */
  const int32_t *row_weights;
  const int32_t *columns; /* [out_width][column_taps] */
  const int32_t *column_weights; /* null: copy, one tap each */
  const float *real_rows;        /* the weights as floats */
  const float *real_columns;
  const float *values;     /* of every byte, the smallest value first */
  const float *thresholds; /* for every byte of the result, the smallest first; null: round as requant says */
  uint32_t first_row;
  uint32_t width;
  uint32_t channels;
  uint32_t out_height;
  uint32_t out_width;
  uint32_t row_taps;
  uint32_t column_taps;
  uint32_t middle;
  uint32_t fraction; /* at least 1 with thresholds */
  int32_t slack;
  int32_t zero_point;
  uint32_t x_type;
  uint32_t y_type;
  struct tvm_pulp_requant requant; /* half_up or half_even, per tensor */
};

#define TVM_PULP_KERNEL(name) \
  void tvm_pulp_kernel_##name(const struct tvm_pulp_##name##_args *args, uint32_t core, uint32_t cores)
TVM_PULP_KERNEL(dense);
TVM_PULP_KERNEL(matmul);
TVM_PULP_KERNEL(conv2d);
TVM_PULP_KERNEL(depthwise_conv2d);
TVM_PULP_KERNEL(add);
TVM_PULP_KERNEL(mul);
TVM_PULP_KERNEL(qdq_mul);
TVM_PULP_KERNEL(requantize);
TVM_PULP_KERNEL(lookup);
TVM_PULP_KERNEL(hardswish);
TVM_PULP_KERNEL(gelu);
TVM_PULP_KERNEL(i_softmax);
TVM_PULP_KERNEL(softmax_ita);
TVM_PULP_KERNEL(softmax_tflite);
TVM_PULP_KERNEL(rms_norm);
TVM_PULP_KERNEL(layer_norm);
TVM_PULP_KERNEL(qdq_norm);
TVM_PULP_KERNEL(rope);
TVM_PULP_KERNEL(qdq_rope);
TVM_PULP_KERNEL(attention);
TVM_PULP_KERNEL(qdq_attention);
TVM_PULP_KERNEL(rotary);
TVM_PULP_KERNEL(past_attention);
TVM_PULP_KERNEL(transpose);
TVM_PULP_KERNEL(copy_rows);
TVM_PULP_KERNEL(im2col);
TVM_PULP_KERNEL(space_to_depth);
TVM_PULP_KERNEL(add_accumulators);
TVM_PULP_KERNEL(mean_pool);
TVM_PULP_KERNEL(resize);
void tvm_pulp_kernel_max_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores);
void tvm_pulp_kernel_avg_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_KERNELS_H */
