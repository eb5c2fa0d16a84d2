/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a depthwise convolution over planes. */
#ifndef TVM_PULP_DEPTHWISE_ROWS_H
#define TVM_PULP_DEPTHWISE_ROWS_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

struct tvm_pulp_planes;
struct tvm_pulp_plane_rows;
typedef void (*tvm_pulp_rows)(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

struct tvm_pulp_planes {
  const struct tvm_pulp_depthwise_conv2d_args *args;
  uint8_t *planes;    /* [rows][4 channels][plane_stride] */
  int32_t *sums;      /* [sum_rows][sum_width] */
  uint32_t sum_rows, sum_width;
  uint32_t is_dense;  /* neither sums nor results have anything between two rows */
  uint32_t margin;    /* where pixel 0 stands in a row */
  uint32_t first;     /* where the first window starts */
  uint32_t pixels;    /* of an image row that any window reads */
  uint32_t row_step;  /* bytes from a row of the kernel to the next one in a plane */
  uint32_t next;      /* bytes from an output row to the next one in a plane */
  uint32_t weight_bytes; /* of a row of the kernel */
  uint32_t pad_pattern;
  uint32_t is_padding; /* a bit for each of the first 32 rows */
  tvm_pulp_rows fused; /* rows with their requantization, or null */
  tvm_pulp_rows sum;     /* sums of at most sum_rows rows */
};

/* Consecutive output rows of an output channel, or of several. */
struct tvm_pulp_plane_rows {
  const uint8_t *x;     /* first window of the first row */
  const int8_t *weight; /* of the channel */
  uint32_t channel, count;
  uint32_t channels;    /* neighbouring output channels from `channel` on, of functions that sum */
  int32_t *sums;        /* sum_width apart, of functions that sum; channel after channel */
  uint8_t *y;
};

/* Output rows of three kernel rows of one word; the loads of a window may cross a word boundary. FINISH requantizes a
 * sum in x0, by the operands behind it. */
#define THREE_ROWS(FIRST_DOT, DOT, FINISH, ...)                                                                 \
  for (uint32_t row = rows->count; row > 0u; --row, x += next, y += gap) {                                      \
    const uint8_t *p0 = x, *p1 = x + row_step, *p2 = p1 + row_step;                                             \
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]")  \
                         XP_LWR("%[x2]", "%[s]", "%[p2]") FIRST_DOT("%[x0]", "%[x0]", "%[w0]")                   \
                         DOT("%[x0]", "%[x1]", "%[w1]") DOT("%[x0]", "%[x2]", "%[w2]") FINISH                    \
                         XP_LOOP_END XP_SBR("%[x0]", "%[ys]", "%[y]") XP_END                                    \
                     : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1), \
                       [x2] "=&r"(x2)                                                                           \
                     : [n] "r"(n), [s] "r"(stride), [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), __VA_ARGS__,       \
                       [ys] "r"(step)                                                                           \
                     : "memory");                                                                               \
  }
#define THREE_SIGNED_ROWS(...) THREE_ROWS(XP_DOTSP, XP_SDOTSP, __VA_ARGS__)
#define THREE_UNSIGNED_ROWS(...) THREE_ROWS(XP_DOTUSP, XP_SDOTUSP, __VA_ARGS__)
/* What they use of the function around them. */
#define THREE_ROWS_LOCALS                                                                                       \
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;                                                  \
  const struct tvm_pulp_requant *requant = &args->requant;                                                      \
  const int32_t *weight = (const int32_t *)(const void *)rows->weight;                                          \
  uint32_t n = args->out_width, step = args->y_pixel_stride, gap = args->y_row_stride - n * step;               \
  uint32_t next = p->next, row_step = p->row_step, stride = args->stride_x;                                     \
  const uint8_t *x = rows->x;                                                                                   \
  uint8_t *y = rows->y;                                                                                         \
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], x0, x1, x2

/* Output rows, requantized: three kernel rows of one word, pulp_narrow to a range that one instruction clips. */
void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* The same with a promised requantization (scaled.h). */
void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* <float biases> */
/* The same by high_word (kernels.h). */
void tvm_pulp_depthwise_three_high_word_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);
/* </float biases> */

/* Sums of any kernel. */
void tvm_pulp_depthwise_sums(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* Sums by moved rows of weights (packed_weights.h), if there are: windows start at whole words then. Else null. */
tvm_pulp_rows tvm_pulp_depthwise_wide_sums(const struct tvm_pulp_depthwise_conv2d_args *args);

#endif /* TVM_PULP_DEPTHWISE_ROWS_H */
