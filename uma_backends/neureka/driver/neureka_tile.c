/* SPDX-License-Identifier: Apache-2.0 */
#include "neureka_tile.h"

enum { OUTPUT_BEAT_BYTES = 32, LAYER_WISE_OFFSET = 1 << 15, LARGEST_PADDING = 2 };

/* A division per tile would cost more than its registers; the divisors are constants, so there is none. */
static uint32_t subtiles(uint32_t size, uint32_t subtile) { return (size - 1u) / subtile + 1u; }
static uint32_t remainder_of(uint32_t size, uint32_t subtile) { return (size - 1u) % subtile + 1u; }
static uint32_t pair(uint32_t high, uint32_t low) { return high << 16 | low; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t halo(const struct neureka_layer *layer) { return layer->mode == NEUREKA_POINTWISE ? 0u : 2u; }

uint32_t neureka_output_height(const struct neureka_layer *layer) {
  return layer->input_height + layer->pad_top + layer->pad_bottom - halo(layer);
}

uint32_t neureka_output_width(const struct neureka_layer *layer) {
  return layer->input_width + layer->pad_left + layer->pad_right - halo(layer);
}

/* Padding rows (or columns) that a tile sees at its beginning and end. */
static uint32_t padding_before(uint32_t first, uint32_t padding) { return first < padding ? padding - first : 0u; }
static uint32_t padding_after(uint32_t end, uint32_t padding_first, uint32_t input, uint32_t halo_size) {
  const uint32_t needed = end + halo_size; /* end of the window, counted from the first padding row */
  const uint32_t present = padding_first + input;
  return needed > present ? needed - present : 0u;
}

static int is_bad_last_subtile(uint32_t size, uint32_t subtile, uint32_t padding) {
  return padding == 2u && size > subtile && remainder_of(size, subtile) == 1u;
}

static enum neureka_error check(const struct neureka_layer *layer, const struct neureka_rectangle *tile) {
  const uint32_t flags = layer->flags;
  if (tile->rows == 0 || tile->columns == 0 || tile->channels == 0 ||
      tile->row + tile->rows > neureka_output_height(layer) ||
      tile->column + tile->columns > neureka_output_width(layer) ||
      tile->channel + tile->channels > layer->output_channels) {
    return NEUREKA_EMPTY_TILE;
  }
  const uint32_t most = layer->mode == NEUREKA_POINTWISE ? 0 : LARGEST_PADDING;
  if (layer->pad_top > most || layer->pad_right > most || layer->pad_bottom > most || layer->pad_left > most) {
    return NEUREKA_BAD_PADDING;
  }
  if (layer->mode == NEUREKA_DEPTHWISE_3X3 && tile->channel % NEUREKA_CHANNELS_3X3 != 0) return NEUREKA_BAD_CHANNEL_SLICE;
  if ((flags & NEUREKA_PREFETCH && (!(flags & NEUREKA_WEIGHT_MEMORY) || layer->mode == NEUREKA_DEPTHWISE_3X3)) ||
      (!(flags & NEUREKA_OUTPUT_32) && (flags & NEUREKA_STREAM_IN || !(flags & NEUREKA_REQUANTIZE))) ||
      layer->weight_bits < 2 || layer->weight_bits > 8 || layer->shift > 31) {
    return NEUREKA_BAD_FLAGS;
  }
  return NEUREKA_OK;
}

static void point(const struct neureka_layer *layer, const struct neureka_rectangle *tile, uint32_t weight_stride,
                  struct neureka_job *job) {
  const int depthwise = layer->mode == NEUREKA_DEPTHWISE_3X3;
  const uint32_t output_bytes = layer->flags & NEUREKA_OUTPUT_32 ? 4u : 1u;
  const uint32_t scale_bytes = layer->flags & NEUREKA_SCALE_32 ? 4u : 1u;
  const int requantize = (layer->flags & NEUREKA_REQUANTIZE) != 0;
  const uint32_t depthwise_subtile = layer->weight_bits * NEUREKA_WEIGHT_BEAT_BYTES;
  job->weights = layer->weights + (depthwise ? tile->channel / NEUREKA_CHANNELS_3X3 * depthwise_subtile
                                             : tile->channel * weight_stride);
  /* The window of output pixel (row, column) begins `padding` before it, inside the tensor or not. */
  job->input = layer->input + (tile->row - layer->pad_top) * layer->input_row_stride +
               (tile->column - layer->pad_left) * layer->input_pixel_stride + (depthwise ? tile->channel : 0u);
  job->output = layer->output + tile->row * layer->output_row_stride + tile->column * layer->output_pixel_stride +
                tile->channel * output_bytes;
  job->scale = requantize ? layer->scale + tile->channel * scale_bytes : 0u;
  job->shift = requantize && layer->flags & NEUREKA_SHIFT_VECTOR ? layer->shifts + tile->channel : 0u;
  job->bias = requantize && layer->flags & NEUREKA_BIAS ? layer->bias + 4u * tile->channel : 0u;
}

enum neureka_error neureka_describe_tile(const struct neureka_layer *layer, const struct neureka_rectangle *tile,
                                         struct neureka_shape *shape, struct neureka_job *job) {
  const enum neureka_error error = check(layer, tile);
  if (error != NEUREKA_OK) return error;
  const int pointwise = layer->mode == NEUREKA_POINTWISE, depthwise = layer->mode == NEUREKA_DEPTHWISE_3X3;
  const uint32_t top = padding_before(tile->row, layer->pad_top), left = padding_before(tile->column, layer->pad_left);
  const uint32_t bottom = padding_after(tile->row + tile->rows, layer->pad_top, layer->input_height, halo(layer));
  const uint32_t right = padding_after(tile->column + tile->columns, layer->pad_left, layer->input_width, halo(layer));
  if (is_bad_last_subtile(tile->rows, NEUREKA_PE_ROWS, bottom) ||
      is_bad_last_subtile(tile->columns, NEUREKA_PE_COLUMNS, right)) {
    return NEUREKA_BAD_LAST_SUBTILE;
  }
  const uint32_t channels_in = depthwise ? tile->channels : layer->input_channels;
  const uint32_t ki = pointwise ? NEUREKA_CHANNELS_1X1 : NEUREKA_CHANNELS_3X3;
  const uint32_t ko = depthwise ? NEUREKA_CHANNELS_3X3 : NEUREKA_OUTPUT_CHANNELS;
  const uint32_t last_rows = remainder_of(tile->rows, NEUREKA_PE_ROWS);
  const uint32_t last_columns = remainder_of(tile->columns, NEUREKA_PE_COLUMNS);
  const uint32_t planes = pointwise ? 1u : depthwise ? 0u : layer->weight_bits;
  const uint32_t weight_stride = planes * NEUREKA_WEIGHT_BEAT_BYTES * subtiles(channels_in, ki);
  const struct neureka_shape filled = {{
      layer->input_pixel_stride,
      layer->input_row_stride,
      0,
      OUTPUT_BEAT_BYTES,
      layer->output_pixel_stride,
      layer->output_row_stride,
      NEUREKA_WEIGHT_BEAT_BYTES,
      weight_stride,
      0,
      pair(remainder_of(tile->channels, ko), remainder_of(channels_in, ki)),
      pair(last_rows, last_columns),
      pair(last_rows + halo(layer) - bottom, last_columns + halo(layer) - right),
      pair(subtiles(tile->channels, ko), subtiles(channels_in, ki)),
      pair(subtiles(tile->rows, NEUREKA_PE_ROWS), subtiles(tile->columns, NEUREKA_PE_COLUMNS)),
      top << 28 | right << 24 | bottom << 20 | left << 16 | (layer->pad_value & 0xFFu),
      (uint32_t)layer->weight_offset,
      0,
      layer->flags | LAYER_WISE_OFFSET | (uint32_t)layer->mode << 5 | (layer->weight_bits - 1u) | layer->shift << 16,
  }};
  *shape = filled;
  job->shape = shape;
  point(layer, tile, weight_stride, job);
  return NEUREKA_OK;
}

enum neureka_error neureka_run_layer(const struct neureka_layer *layer, uint32_t rows, uint32_t columns,
                                     uint32_t channels) {
  const uint32_t height = neureka_output_height(layer), width = neureka_output_width(layer);
  if (rows == 0 || columns == 0 || channels == 0) return NEUREKA_EMPTY_TILE;
  enum neureka_error error = NEUREKA_OK;
  struct neureka_rectangle tile;
  for (tile.channel = 0; tile.channel < layer->output_channels && error == NEUREKA_OK; tile.channel += channels) {
    tile.channels = smaller(channels, layer->output_channels - tile.channel);
    for (tile.row = 0; tile.row < height && error == NEUREKA_OK; tile.row += rows) {
      tile.rows = smaller(rows, height - tile.row);
      for (tile.column = 0; tile.column < width && error == NEUREKA_OK; tile.column += columns) {
        tile.columns = smaller(columns, width - tile.column);
        struct neureka_shape shape;
        struct neureka_job job;
        error = neureka_describe_tile(layer, &tile, &shape, &job);
        if (error == NEUREKA_OK) neureka_submit_once(&job);
      }
    }
  }
  neureka_wait_all();
  return error;
}
