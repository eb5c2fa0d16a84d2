/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of the kernels for graphs of QuantizeLinear and DequantizeLinear, which round in single precision or fixed
 * point; kernels.h has the rules. */
#ifndef TVM_PULP_QDQ_KERNELS_H
#define TVM_PULP_QDQ_KERNELS_H

#include <stdint.h>

/* y = round(x / scale) plus zero_point, within the bytes of y: the quotient rounded to a float as a division is, then
 * half to even; what is not a number is the smallest byte. Rows of x without a gap; rows of y begin y_stride bytes from
 * each other, their elements y_step bytes: a row may be a plane of an image whose channels come last. Where a step of
 * such an image has more bytes than there are planes, the others are the last plane again. */
struct tvm_pulp_quantize_args {
  const float *x;
  uint8_t *y;
  const float *reals; /* scale, from 2^-80 to 2^80, and 1 / scale */
  uint32_t rows, columns;
  uint32_t y_stride;
  uint32_t y_step;
  uint32_t y_type; /* int8 or uint8 */
  int32_t zero_point;
};

/* y = (x - zero_point) * scale: `count` bytes without a gap. */
struct tvm_pulp_dequantize_args {
  const uint8_t *x;
  float *y;
  const float *scale; /* one */
  uint32_t count;
  uint32_t x_type; /* int8 or uint8 */
  int32_t zero_point;
};

/* Two roundings of what an engine multiplied: v = (x + add0) >> shift0, clipped to a signed byte, then
 * y = (v * mul + add1) >> shift, clipped to a signed byte, plus 128 where y is unsigned. Nothing leaves 32 bits. */
struct tvm_pulp_requantize_add_args {
  const int32_t *x;
  uint8_t *y;
  const int32_t *stages; /* for every four columns: four of shift0, four of add0, four of add1 */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
  uint32_t y_type;  /* int8 or uint8 */
  int32_t mul, shift;
};

/* As above, and a function of the result: y = table[128 + (v * mul + add1) >> shift, clipped to a signed byte]. */
struct tvm_pulp_requantize_add_table_args {
  const int32_t *x;
  uint8_t *y;
  const int32_t *stages; /* as above */
  const uint8_t *table;
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
  int32_t mul, shift;
};

/* As above, and a sum with other bytes: u = (v * mul + add1) >> shift, clipped to a signed byte, then
 * y = (u * mul_a + b * mul_b + add) >> shift_sum, clipped to the type of b and y. Nothing that is shifted leaves 32 bits. */
struct tvm_pulp_requantize_add_sum_args {
  const int32_t *x;
  uint8_t *y;
  const uint8_t *b;
  const int32_t *stages; /* as above */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
  uint32_t type;    /* of b and y: int8 or uint8 */
  int32_t mul, shift;
  int32_t mul_a, mul_b, add, shift_sum;
};

/* A rounding of what an engine multiplied, and a sum with other bytes: v = (x + add0) >> shift0, clipped to a signed
 * byte, then y = (v * mul + b * mul_b + add) >> shift, clipped to a signed byte, plus 128 where y is unsigned. Nothing
 * that is shifted leaves 32 bits. */
struct tvm_pulp_requantize_sum_args {
  const int32_t *x;
  uint8_t *y;
  const uint8_t *b;
  const int32_t *stages; /* for every four columns: four of shift0, four of add0 */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
  uint32_t b_type, y_type; /* int8 or uint8 */
  int32_t mul, mul_b, add, shift;
};

/* A rounding of what an engine multiplied and a function of its result, one for every column or one for all:
 * y = table[(x + add) >> shift, clipped to 0 to 255]. */
struct tvm_pulp_requantize_table_args {
  const int32_t *x;
  uint8_t *y;
  const int32_t *stages; /* for every four columns: four of shift, four of add */
  const uint8_t *table;
  uint32_t table_stride; /* from a column's table to the next one's, or 0 */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
};

/* y = round((a - zero_point_a) * (b - zero_point_b) * scale), from low to high, plus zero_point: bytes, rounded in
 * single precision. Rows of a and y without a gap. */
struct tvm_pulp_qdq_mul_args {
  const uint8_t *a, *b;
  uint8_t *y;
  const float *scale; /* one */
  uint32_t rows, columns;
  uint32_t b_stride; /* columns, or 0 for one row that is repeated */
  uint32_t a_type;   /* int8 or uint8 */
  uint32_t b_type;
  int32_t zero_point_a, zero_point_b;
  int32_t low; /* of the result, without its zero point */
  int32_t high;
  int32_t zero_point;
};

/* Normalization of 8-bit rows with single precision inside; rows without a gap. With a = columns * x - sum(x) if
 * centred, else x - zero_point_x, and `spread` the sum of a^2, by columns if centred:
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
  uint32_t narrow; /* one stage that does not round: no result needs more than 16 bits before it is limited */
  int32_t zero_point_x;
  int32_t index_low, index_high, low0, high0, low1, high1;
  int32_t low; /* of the result, without its zero point */
  int32_t high;
  int32_t zero_point;
};

/* Normalization of groups of planes, channels first, with single precision inside. Of the n = channels * pixels
 * elements of a group, a = n * x - sum(x) and spread = n * sum(x^2) - sum(x)^2:
 *
 *   y = round(a * (reals[2] / sqrt(spread * reals[0] + reals[1]) * weight) + bias), from low to high, plus zero_point */
struct tvm_pulp_group_norm_args {
  const uint8_t *x;
  uint8_t *y;
  const float *reals;
  const float *weight; /* of every channel of all groups */
  const float *bias;
  uint32_t groups;
  uint32_t channels; /* of a group */
  uint32_t pixels;   /* of a plane; up to 33,025 elements in a group */
  uint32_t x_type;   /* int8 or uint8 */
  int32_t low;       /* of the result, without its zero point */
  int32_t high;
  int32_t zero_point;
};

/* Rotary embedding of rows of `size` bytes, rounded in single precision; zero points are taken out of every operand.
 * The partner of an element is the one half a row away, looked up in `first` in the first half of a row, in `second` in
 * the second.
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
  uint32_t rows, size;
  uint32_t rows_per_position; /* rows that follow each other have the same position */
  uint32_t positions;         /* then the next one, and after the last the first again */
  uint32_t x_type;            /* int8 or uint8 */
  uint32_t cosine_type, sine_type, partner_type;
  int32_t zero_point_x, zero_point_cosine, zero_point_partner, zero_point_sine;
  int32_t kept_low, kept_high, turned_low, turned_high, low, high;
  int32_t zero_point;
};

/* Attention of all heads with single precision between the products; zero points are taken out of q, k and v.
 *
 *   l = round(q . k * reals[0]), from logit_low to logit_high;  u = table[class][l - logit_low]
 *   e = exponential[largest u - u];  p = round(e * (reals[1] / sum of e)), up to probability_high
 *   y = round(p . v * reals[2]), from low to high, plus zero_point
 *
 * `group` heads of q share one of k and v. Strides reach head and position of each tensor. */
struct tvm_pulp_qdq_attention_args {
  const uint8_t *q, *k, *v;
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
  uint32_t heads, queries, keys;
  uint32_t size; /* of a head; fast for multiples of 4 */
  uint32_t group;
  uint32_t q_head_stride, q_stride, k_head_stride, k_stride, v_head_stride, v_stride, y_head_stride, y_stride;
  uint32_t mask_head_stride;
  uint32_t mask_stride; /* 0: one row for all queries */
  uint32_t q_type;      /* int8 or uint8, after the table */
  uint32_t k_type, v_type;
  int32_t zero_point_q, zero_point_k, zero_point_v;
  int32_t logit_low, logit_high;
  int32_t probability_high; /* up to 255 */
  int32_t low, high;
  int32_t zero_point;
};

/* qdq_attention over rows of a past, of which the first *length count, and new rows behind them. `whole` is made for
 * all rows of the past and the new ones: k and v are [rows][heads / group * size] with room for the new rows behind the
 * last, which the kernel writes behind those that count. Columns of the mask for the past hold the same class. */
struct tvm_pulp_past_qdq_attention_args {
  struct tvm_pulp_qdq_attention_args whole;
  const int32_t *length;
  const uint8_t *new_k; /* [rows][heads / group * size] */
  const uint8_t *new_v;
  uint32_t rows;
};

/* Weights of that attention from products of q and k that are there already, zero points taken out: rows are those of
 * all queries of a head, then those of the next. */
struct tvm_pulp_qdq_weights_args {
  int32_t *x;                 /* [rows][stride]; what lies behind the last key of a row is written */
  uint8_t *y;                 /* [rows][stride]: p; 0 behind the last key of a row */
  const uint8_t *mask;        /* as in qdq_attention, but rows of `stride` classes: those behind the last key repeat the
                                 first one */
  const uint8_t *table;       /* 512 entries for each class: u of l from -256 to 255, which is clipped to that */
  const int32_t *exponential; /* as in qdq_attention, the last entry first: e of 255 to 0 */
  const float *reals;         /* as in qdq_attention; the first is not used with a shift */
  uint8_t *scratch;           /* word aligned; scratch_stride >= 4 n stride for n rows at a time, 1 to 8 */
  uint32_t scratch_stride;
  uint32_t rows, keys;
  uint32_t stride;  /* keys rounded up to 4 */
  uint32_t queries; /* of a head */
  uint32_t mask_head_stride;
  uint32_t mask_stride;
  int32_t add;
  uint32_t shift;           /* not 0: l = (x + add) >> shift */
  int32_t probability_high; /* up to 255 */
};

/* Softmax of rows without a gap by a table: y = round(e * (gain / total)), half to even, up to `high`, plus the zero
 * point; e of a value by its distance to the row's largest, total their sum. */
struct tvm_pulp_softmax_table_args {
  const uint8_t *x;
  uint8_t *y;
  const int32_t *table; /* e of the distances 255 to 0 */
  const float *gain;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 columns + 16 */
  uint32_t scratch_stride;
  uint32_t rows, columns;
  uint32_t x_type;
  int32_t high; /* 0 to 255 */
  int32_t zero_point;
};

/* y = factor * (sum of a row's bytes + add), of some matrices of rows. */
struct tvm_pulp_row_sums_args {
  const uint8_t *x;
  int32_t *y; /* [matrices][y_stride] */
  uint32_t matrices;
  uint32_t x_matrix_stride;
  uint32_t rows;
  uint32_t x_stride;
  uint32_t depth; /* a multiple of 4 */
  uint32_t y_stride;
  uint32_t x_type; /* int8 or uint8 */
  int32_t factor;
  int32_t add;
};

/* y = clip(round(a + b)) of two results in units of their own, in fixed point with `fraction` bits, 1 to 20. A 32-bit
 * operand becomes (x << left) * mul[column] >> 32, a byte (x - zero_point) * mul[0]; both stay below 2^29, and
 * x << left inside 32 bits. */
struct tvm_pulp_add_accumulators_args {
  const void *a, *b;
  uint8_t *y;
  const int32_t *mul_a; /* [columns] of a 32-bit operand, one of bytes */
  const int32_t *mul_b;
  uint32_t rows, columns;
  uint32_t a_type, b_type;
  uint32_t left_a, left_b;
  int32_t zero_point_a; /* of bytes */
  int32_t zero_point_b;
  uint32_t fraction;
  int32_t zero_point; /* -128 to 255, as the limits */
  int32_t low, high;
};

/* Results of an engine, twice: y from below and `upper` from above. Where both agree they are the result; where not, y
 * becomes ((sum * factor >> 16) + summand) >> shift, clipped, of the sum of that element's products. These are of all
 * inputs of a pixel, or of the one channel in a window of 3 x 3 pixels, of which those outside of x are zeros. */
struct tvm_pulp_settle_args {
  const uint8_t *x; /* readable three bytes behind its end */
  uint8_t *y;       /* word aligned, as upper: [rows][columns] */
  const uint8_t *upper;
  const int8_t *weight;  /* [columns][depth], or [columns][9] */
  const int32_t *stages; /* [columns][3]: factor, unsigned, summand and shift; sums times factors stay within 2^47 */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
  uint32_t width;   /* rows that are pixels of one line */
  uint32_t x_height, x_width;
  uint32_t x_stride; /* bytes from the window of a pixel to that of the next */
  uint32_t x_line_stride;
  uint32_t kernel; /* 1 or 3 */
  uint32_t pad_top, pad_left;
  uint32_t depth; /* a multiple of 4; weights of inputs that there are not are zeros */
  uint32_t x_type, y_type; /* int8 or uint8 */
};

#endif /* TVM_PULP_QDQ_KERNELS_H */
