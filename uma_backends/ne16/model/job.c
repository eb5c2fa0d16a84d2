/* SPDX-License-Identifier: Apache-2.0
 *
 * From 24 register words to a decoded job; everything this NPU cannot do, or nobody ever tested, is refused here. */
#include <inttypes.h>

#include "engine.h"

#define REFUSE(...)                               \
  do {                                            \
    job_queue_fault(&engine->queue, __VA_ARGS__); \
    return false;                                 \
  } while (0)

/* Bits 9, 10 and 26, which NEUREKA has, and 11 and 15 do nothing here, whatever programs write. */
static bool decode_config(struct ne16_engine *engine, uint32_t config, struct ne16_job *job) {
  if (array_field(config, 0, 3) == 0) REFUSE("NE16 weight width is 1 bit, use 2 to 8 bits");
  job->weight_bits = array_field(config, 0, 3) + 1;
  job->wide_input = array_field(config, 3, 1);
  job->norm_quant = array_field(config, 4, 1);
  const uint32_t mode = array_field(config, 5, 2), linear = array_field(config, 7, 1);
  if (mode == 3) REFUSE("NE16 filter mode 3 is reserved, use 0 (3x3), 1 (depthwise) or 2 (1x1)");
  if (linear && mode != NE16_1X1) REFUSE("NE16 linear mode belongs to filter mode 2, clear CONFIG0[7] or set CONFIG0[6:5] to 2");
  job->mode = linear ? NE16_LINEAR : (enum ne16_mode)mode;
  if (job->wide_input && (linear || mode == NE16_DEPTHWISE)) {
    REFUSE("NE16 takes 16-bit activations in 3x3 and 1x1 mode only, clear CONFIG0[3]");
  }
  job->strided = array_field(config, 8, 1);
  if (job->strided && ne16_kernel(job) == 1) REFUSE("NE16 1x1 jobs have their stride in INFEAT_D0 and D1, clear CONFIG0[8]");
  job->stream_in = array_field(config, 14, 1);
  job->shift = array_field(config, 16, 5);
  switch (array_field(config, 21, 2)) {
    case 0: job->output_bytes = 1; break;
    case 2: job->output_bytes = 4; break;
    default: REFUSE("NE16 output mode %" PRIu32 " writes nothing, use 0 (8 bit) or 2 (32 bit)", array_field(config, 21, 2));
  }
  if (job->stream_in && job->output_bytes != 4) REFUSE("NE16 stream-in needs 32-bit output, set CONFIG0[22:21] to 2");
  if (job->stream_in && mode == NE16_DEPTHWISE) REFUSE("NE16 stream-in is wrong in depthwise mode, clear CONFIG0[14]");
  if (!job->norm_quant && job->output_bytes != 4) {
    REFUSE("NE16 raw accumulators need 32-bit output, set CONFIG0[22:21] to 2 or CONFIG0[4]");
  }
  job->relu = !array_field(config, 23, 1);
  job->shift_vector = array_field(config, 24, 1);
  job->bias = array_field(config, 25, 1);
  if (job->norm_quant && array_field(config, 12, 2) == 3) REFUSE("NE16 scale mode 3 is reserved, use 0, 1 or 2 (8, 16 or 32 bit)");
  job->scale_bytes = 1u << array_field(config, 12, 2);
  return true;
}

static bool decode_sizes(struct ne16_engine *engine, const uint32_t *words, struct ne16_job *job) {
  const bool depthwise = ne16_is_depthwise(job);
  const uint32_t halo = ne16_kernel(job) - 1;
  if (array_field(words[SUBTILE_REM0], 0, 16) == 0) REFUSE("NE16 sources disagree about 0 input channels left, write 1 to 16 into SUBTILE_REM0");
  job->ki = array_dimension(array_field(words[SUBTILE_NB0], 0, 16), array_field(words[SUBTILE_REM0], 0, 16),
                      job->mode == NE16_LINEAR ? NE16_LINEAR_WORDS : NE16_INPUT_BYTES);
  job->ko = array_dimension(array_field(words[SUBTILE_NB0], 16, 16), array_field(words[SUBTILE_REM0], 16, 16),
                      depthwise ? NE16_INPUT_BYTES : NE16_OUTPUT_CHANNELS);
  job->ho = array_dimension(array_field(words[SUBTILE_NB1], 16, 16), array_field(words[SUBTILE_REM1], 16, 16), NE16_PATCH);
  job->wo = array_dimension(array_field(words[SUBTILE_NB1], 0, 16), array_field(words[SUBTILE_REM1], 0, 16), NE16_PATCH);
  if (job->ki.count == 0 || job->ko.count == 0 || job->ho.count == 0 || job->wo.count == 0) {
    REFUSE("NE16 job has a dimension of 0 subtiles, write at least 1 into every SUBTILE_NB field");
  }
  if (job->ki.last > job->ki.full || job->ko.last > job->ko.full || job->ho.last > job->ho.full ||
      job->wo.last > job->wo.full) {
    REFUSE("NE16 subtile remainder is larger than a subtile, see SUBTILE_REM0 and SUBTILE_REM1");
  }
  if (job->wide_input && job->ki.last % 2 != 0) REFUSE("NE16 counts 16-bit channels in bytes, write an even number into SUBTILE_REM0");
  if (depthwise && (job->ki.count != job->ko.count || job->ki.last != job->ko.last)) {
    REFUSE("NE16 depthwise needs equal input and output channel subtiles, see SUBTILE_NB0 and SUBTILE_REM0");
  }
  const uint64_t pixels = (uint64_t)array_dimension_total(&job->ho) * array_dimension_total(&job->wo);
  if (job->strided && (job->ho.count != 1 || job->wo.count != 1 || job->ho.last == 2 || job->wo.last == 2)) {
    REFUSE("NE16 strided jobs compute one patch of 1 or 3 rows and columns, see SUBTILE_NB1 and SUBTILE_REM1");
  }
  if (job->mode == NE16_LINEAR && pixels != 1) REFUSE("NE16 linear mode computes one pixel, write 1 into SUBTILE_NB1 and SUBTILE_REM1");
  job->hi_full = job->wi_full = NE16_PATCH + halo;
  job->hi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 16, 16), job->hi_full).last;
  job->wi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 0, 16), job->wi_full).last;
  if (job->hi_last > job->hi_full || job->wi_last > job->wi_full) {
    REFUSE("NE16 input remainder is larger than the input buffer, see SUBTILE_REM2");
  }
  if (pixels > ARRAY_LARGEST_OUTPUT || pixels * array_dimension_total(&job->ko) > ARRAY_LARGEST_OUTPUT || ne16_job_macs(job) > ARRAY_LARGEST_MACS) {
    REFUSE("NE16 job is larger than any memory it could work on, see SUBTILE_NB0 and SUBTILE_NB1");
  }
  return true;
}

static bool decode_borders(struct ne16_engine *engine, uint32_t padding, uint32_t mask, struct ne16_job *job) {
  job->pad_top = array_field(padding, 28, 4);
  job->pad_right = array_field(padding, 24, 4);
  job->pad_bottom = array_field(padding, 20, 4);
  job->pad_left = array_field(padding, 16, 4);
  job->pad_value = array_field(padding, 0, job->wide_input ? 16 : 8);
  if (ne16_kernel(job) == 1 && padding >> 16 != 0) REFUSE("NE16 1x1 jobs cannot be padded, write 0 into PADDING[31:16]");
  if (job->pad_top > NE16_HALO || job->pad_right > NE16_HALO || job->pad_bottom > NE16_HALO || job->pad_left > NE16_HALO) {
    REFUSE("NE16 pads at most 2 pixels per side, see PADDING");
  }
  job->mask_top = array_field(mask, 24, 8);
  job->mask_right = array_field(mask, 16, 8);
  job->mask_bottom = array_field(mask, 8, 8);
  job->mask_left = array_field(mask, 0, 8);
  if (ne16_kernel(job) == 1 && mask != 0) REFUSE("NE16 masks 3x3 filters only, write 0 into FILTER_MASK");
  if (job->mask_top > 3 || job->mask_right > 3 || job->mask_bottom > 3 || job->mask_left > 3) {
    REFUSE("NE16 masks at most 3 rows or columns per side, see FILTER_MASK");
  }
  return true;
}

bool ne16_decode(struct ne16_engine *engine, const uint32_t *words, struct ne16_job *job) {
  *job = (struct ne16_job){0};
  if (!decode_config(engine, words[CONFIG0], job) || !decode_sizes(engine, words, job) ||
      !decode_borders(engine, words[PADDING], words[FILTER_MASK], job)) {
    return false;
  }
  job->weight_offset = (int32_t)words[WEIGHT_OFFSET];
  if (job->weight_offset < -256 || job->weight_offset > 255) {
    REFUSE("NE16 weight offset %" PRId32 " does not fit the 9 bits of the hardware, use -256 to 255", job->weight_offset);
  }
  job->at = array_places(words);
  return true;
}

uint64_t ne16_job_macs(const struct ne16_job *job) {
  const uint32_t step = ne16_output_step(job), taps = ne16_kernel(job) * ne16_kernel(job);
  const uint64_t rows = (array_dimension_total(&job->ho) + step - 1) / step;
  const uint64_t columns = (array_dimension_total(&job->wo) + step - 1) / step;
  return rows * columns * array_dimension_total(&job->ko) * taps * (ne16_is_depthwise(job) ? 1 : ne16_input_channels(job));
}
