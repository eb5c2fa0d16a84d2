/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of a layer whose operands lie in L1, without a compiler: describe the layer once, then ask for the job of any
 * rectangle of its output. Padding fields and pointers of border tiles follow from the rectangle. */
#ifndef NEUREKA_TILE_H
#define NEUREKA_TILE_H

#include "neureka.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Array geometry (Siracusa). */
#ifndef NEUREKA_PE_ROWS
#define NEUREKA_PE_ROWS 6
#define NEUREKA_PE_COLUMNS 6
#define NEUREKA_CHANNELS_1X1 32
#define NEUREKA_CHANNELS_3X3 28
#define NEUREKA_OUTPUT_CHANNELS 32
#define NEUREKA_WEIGHT_BEAT_BYTES 32
#endif

enum neureka_mode { NEUREKA_DENSE_3X3 = 0, NEUREKA_DEPTHWISE_3X3 = 1, NEUREKA_POINTWISE = 2 };

/* Bits of `flags`, at their place in CONFIG0. Without NEUREKA_REQUANTIZE the output is the raw 32-bit accumulator. */
enum neureka_flag {
  NEUREKA_REQUANTIZE = 1 << 4,
  NEUREKA_WEIGHT_MEMORY = 1 << 9, /* `weights` is an offset into the weight memory */
  NEUREKA_PREFETCH = 1 << 10,     /* only with weights in weight memory, not depthwise */
  NEUREKA_SCALE_32 = 2 << 12,     /* scales of 32 bits instead of 8 */
  NEUREKA_STREAM_IN = 1 << 14,    /* add to the 32-bit output buffer */
  NEUREKA_OUTPUT_32 = 2 << 21,
  NEUREKA_SIGNED_OUTPUT = 1 << 23, /* clip to int8; without it clip to uint8, which includes ReLU */
  NEUREKA_SHIFT_VECTOR = 1 << 24,
  NEUREKA_BIAS = 1 << 25,
  NEUREKA_SIGNED_INPUT = 1 << 26,
};

struct neureka_layer {
  enum neureka_mode mode;
  uint32_t flags;
  uint32_t weight_bits; /* 2 to 8 */
  int32_t weight_offset;
  uint32_t shift; /* 0 to 31 */
  uint32_t input_height, input_width, input_channels, output_channels;
  uint32_t pad_top, pad_right, pad_bottom, pad_left, pad_value;
  uint32_t input, output, weights, scale, shifts, bias; /* addresses of the whole tensors */
  uint32_t input_pixel_stride, input_row_stride, output_pixel_stride, output_row_stride; /* bytes */
};

/* Output rows [row, row + rows), columns and channels alike. */
struct neureka_rectangle {
  uint32_t row, rows, column, columns, channel, channels;
};

enum neureka_error {
  NEUREKA_OK = 0,
  NEUREKA_EMPTY_TILE = -1,        /* the rectangle is empty or leaves the output */
  NEUREKA_BAD_PADDING = -2,       /* more than 2 pixels, or any in 1x1 mode */
  NEUREKA_BAD_CHANNEL_SLICE = -3, /* a depthwise slice must begin at a multiple of 28 */
  NEUREKA_BAD_LAST_SUBTILE = -4,  /* 2 padded pixels behind a subtile of 1: the hardware pads wrongly, cut elsewhere */
  NEUREKA_BAD_FLAGS = -5,         /* a combination the hardware has not */
};

uint32_t neureka_output_height(const struct neureka_layer *layer);
uint32_t neureka_output_width(const struct neureka_layer *layer);

/* Fill shape and job (which points to the shape). */
enum neureka_error neureka_describe_tile(const struct neureka_layer *layer, const struct neureka_rectangle *tile,
                                         struct neureka_shape *shape, struct neureka_job *job);

/* Run a layer in tiles of at most rows x columns x channels, both contexts busy; returns when all are done. */
enum neureka_error neureka_run_layer(const struct neureka_layer *layer, uint32_t rows, uint32_t columns,
                                     uint32_t channels);

#ifdef __cplusplus
}
#endif
#endif /* NEUREKA_TILE_H */
