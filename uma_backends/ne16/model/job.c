/* SPDX-License-Identifier: Apache-2.0
 *
 * From 24 register words to a decoded job; everything this NPU cannot do, or nobody ever tested, is refused here. */
#include <inttypes.h>

#include "engine.h"

#define REFUSE(...) JOB_QUEUE_REFUSE(&engine->queue, __VA_ARGS__)

/* Bits 9, 10 and 26, which NEUREKA has, and 11 and 15 do nothing here, whatever programs write. */
static bool decode_config(struct ne16_engine *engine, uint32_t config, struct array_job *job) {
  if (!array_decode_config(&engine->queue, config, job)) return false;
  const bool linear = array_field(config, 7, 1), wide = array_field(config, 3, 1), depthwise = array_is_depthwise(job);
  if (linear && job->mode != ARRAY_1X1) REFUSE("NE16 linear mode belongs to filter mode 2, clear CONFIG0[7] or set CONFIG0[6:5] to 2");
  if (wide && (linear || depthwise)) REFUSE("NE16 takes 16-bit activations in 3x3 and 1x1 mode only, clear CONFIG0[3]");
  job->mode = linear ? ARRAY_LINEAR : job->mode;
  job->ki_bytes = linear ? NE16_INPUT_BYTES : 1;
  job->value_bytes = wide ? 2 : 1;
  job->strided = array_field(config, 8, 1);
  if (job->strided && array_kernel(job) == 1) REFUSE("NE16 1x1 jobs have their stride in INFEAT_D0 and D1, clear CONFIG0[8]");
  if (job->output_bytes == 0) {
    REFUSE("NE16 output mode %" PRIu32 " writes nothing, use 0 (8 bit) or 2 (32 bit)", array_field(config, 21, 2));
  }
  if (!array_check_output(&engine->queue, job)) return false;
  if (job->stream_in && depthwise) REFUSE("NE16 stream-in is wrong in depthwise mode, clear CONFIG0[14]");
  if (job->norm_quant && array_field(config, 12, 2) == 3) REFUSE("NE16 scale mode 3 is reserved, use 0, 1 or 2 (8, 16 or 32 bit)");
  return true;
}

static bool decode_sizes(struct ne16_engine *engine, const uint32_t *words, struct array_job *job) {
  const struct array_subtiles full = {
      .ki = job->mode == ARRAY_LINEAR ? NE16_LINEAR_WORDS : NE16_INPUT_BYTES,
      .ko = array_is_depthwise(job) ? NE16_INPUT_BYTES : NE16_OUTPUT_CHANNELS,
      .ho = NE16_PATCH,
      .wo = NE16_PATCH,
  };
  if (array_field(words[SUBTILE_REM0], 0, 16) == 0) REFUSE("NE16 sources disagree about 0 input channels left, write 1 to 16 into SUBTILE_REM0");
  if (!array_decode_sizes(&engine->queue, words, full, job)) return false;
  if (job->ki.last % job->value_bytes != 0) REFUSE("NE16 counts 16-bit channels in bytes, write an even number into SUBTILE_REM0");
  if (job->strided && (job->ho.count != 1 || job->wo.count != 1 || job->ho.last == 2 || job->wo.last == 2)) {
    REFUSE("NE16 strided jobs compute one patch of 1 or 3 rows and columns, see SUBTILE_NB1 and SUBTILE_REM1");
  }
  const bool one_pixel = array_dimension_total(&job->ho) == 1 && array_dimension_total(&job->wo) == 1;
  if (job->mode == ARRAY_LINEAR && !one_pixel) REFUSE("NE16 linear mode computes one pixel, write 1 into SUBTILE_NB1 and SUBTILE_REM1");
  return array_decode_window(&engine->queue, words, job);
}

static bool decode_mask(struct ne16_engine *engine, uint32_t mask, struct array_job *job) {
  job->mask_top = array_field(mask, 24, 8);
  job->mask_right = array_field(mask, 16, 8);
  job->mask_bottom = array_field(mask, 8, 8);
  job->mask_left = array_field(mask, 0, 8);
  if (array_kernel(job) == 1 && mask != 0) REFUSE("NE16 masks 3x3 filters only, write 0 into FILTER_MASK");
  if (job->mask_top > ARRAY_LARGEST_MASK || job->mask_right > ARRAY_LARGEST_MASK ||
      job->mask_bottom > ARRAY_LARGEST_MASK || job->mask_left > ARRAY_LARGEST_MASK) {
    REFUSE("NE16 masks at most 3 rows or columns per side, see FILTER_MASK");
  }
  return true;
}

/* Bit planes of sixteen bytes of activations, or in linear mode of a whole row. */
static struct array_filters filters_of(const struct array_job *job) {
  const bool linear = job->mode == ARRAY_LINEAR, depthwise = array_is_depthwise(job);
  const uint32_t channels = linear ? array_input_bytes(job) : NE16_INPUT_BYTES / job->value_bytes;
  const uint32_t plane = array_taps(job) * channels / 8, group = job->weight_bits * plane;
  return (struct array_filters){
      .groups = linear || depthwise ? 1 : job->ki.count,
      .channels = channels,
      .planes = job->weight_bits,
      .plane_bytes = plane,
      .plane_stride = job->mode == ARRAY_1X1 ? plane : job->at.weights_d0,
      .group_stride = group,
      .major_stride = linear ? job->at.weights_d2 : depthwise ? group : job->ko.full * job->ki.count * group,
  };
}

bool ne16_decode(struct ne16_engine *engine, const uint32_t *words, struct array_job *job) {
  *job = (struct array_job){0};
  if (!decode_config(engine, words[CONFIG0], job) || !decode_sizes(engine, words, job) ||
      !array_decode_padding(&engine->queue, words[PADDING], job) || !decode_mask(engine, words[FILTER_MASK], job)) {
    return false;
  }
  job->weight_offset = (int32_t)words[WEIGHT_OFFSET];
  if (job->weight_offset < -256 || job->weight_offset > 255) {
    REFUSE("NE16 weight offset %" PRId32 " does not fit the 9 bits of the hardware, use -256 to 255", job->weight_offset);
  }
  job->at = array_places(words);
  job->filters = filters_of(job);
  return true;
}
