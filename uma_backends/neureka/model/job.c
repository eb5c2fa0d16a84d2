/* SPDX-License-Identifier: Apache-2.0
 *
 * From 24 register words to a decoded job; everything this NPU cannot do, or nobody ever tested, is refused here. */
#include <inttypes.h>

#include "engine.h"

#define REFUSE(...)                     \
  do {                                  \
    job_queue_fault(&engine->queue, __VA_ARGS__); \
    return false;                       \
  } while (0)

static bool decode_config(struct neureka_engine *engine, uint32_t config, struct neureka_job *job) {
  if (array_field(config, 0, 3) == 0) REFUSE("NEUREKA weight width is 1 bit, use 2 to 8 bits");
  job->weight_bits = array_field(config, 0, 3) + 1;
  if (array_field(config, 3, 1)) REFUSE("NEUREKA has no 16-bit activation mode, clear CONFIG0[3]");
  job->norm_quant = array_field(config, 4, 1);
  if (array_field(config, 5, 2) == 3) REFUSE("NEUREKA filter mode 3 is reserved, use 0 (3x3), 1 (depthwise) or 2 (1x1)");
  job->mode = (enum neureka_mode)array_field(config, 5, 2);
  if (array_field(config, 7, 1)) REFUSE("NEUREKA has no linear mode, use 1x1 on one pixel and clear CONFIG0[7]");
  if (array_field(config, 8, 1)) REFUSE("NEUREKA has no 2x2-strided mode on this target, clear CONFIG0[8]");
  job->weight_memory = array_field(config, 9, 1);
  job->prefetch = array_field(config, 10, 1);
  if (job->prefetch && !job->weight_memory) {
    REFUSE("NEUREKA prefetch hangs with weights in L1, set CONFIG0[9] (weight memory) or clear CONFIG0[10]");
  }
  if (job->prefetch && job->mode == NEUREKA_DEPTHWISE) {
    REFUSE("NEUREKA prefetch in depthwise mode was never verified, clear CONFIG0[10]");
  }
  job->stream_in = array_field(config, 14, 1);
  if (!array_field(config, 15, 1)) REFUSE("NEUREKA weight offset mode 0 was never verified, set CONFIG0[15]");
  job->shift = array_field(config, 16, 5);
  switch (array_field(config, 21, 2)) {
    case 0: job->output_bytes = 1; break;
    case 2: job->output_bytes = 4; break;
    default: REFUSE("NEUREKA output mode %" PRIu32 " is not supported, use 0 (8 bit) or 2 (32 bit)", array_field(config, 21, 2));
  }
  if (job->stream_in && job->output_bytes != 4) REFUSE("NEUREKA stream-in needs 32-bit output, set CONFIG0[22:21] to 2");
  if (!job->norm_quant && job->output_bytes != 4) {
    REFUSE("NEUREKA raw accumulators need 32-bit output, set CONFIG0[22:21] to 2 or CONFIG0[4]");
  }
  job->relu = !array_field(config, 23, 1);
  job->shift_vector = array_field(config, 24, 1);
  job->bias = array_field(config, 25, 1);
  job->input_signed = array_field(config, 26, 1);
  if (job->input_signed && !engine->options.geometry.signed_input) {
    REFUSE("NEUREKA has no signed input on this SoC, add 128 to activations and clear CONFIG0[26]");
  }
  if (array_field(config, 27, 5)) REFUSE("NEUREKA CONFIG0[31:27] are reserved on this target, write 0");
  job->scale_bytes = 1;
  if (job->norm_quant) {
    switch (array_field(config, 12, 2)) {
      case 0: job->scale_bytes = 1; break;
      case 2: job->scale_bytes = 4; break;
      default: REFUSE("NEUREKA scale mode %" PRIu32 " was never verified, use 0 (8 bit) or 2 (32 bit)", array_field(config, 12, 2));
    }
  }
  return true;
}

static bool decode_sizes(struct neureka_engine *engine, const uint32_t *words, struct neureka_job *job) {
  const struct neureka_geometry *g = &engine->options.geometry;
  const bool pointwise = job->mode == NEUREKA_1X1, depthwise = job->mode == NEUREKA_DEPTHWISE;
  const uint32_t halo = pointwise ? 0 : NEUREKA_HALO;
  job->ki = array_dimension(array_field(words[SUBTILE_NB0], 0, 16), array_field(words[SUBTILE_REM0], 0, 16),
                      pointwise ? g->channels_1x1 : g->channels_3x3);
  job->ko = array_dimension(array_field(words[SUBTILE_NB0], 16, 16), array_field(words[SUBTILE_REM0], 16, 16),
                      depthwise ? g->channels_3x3 : g->output_channels);
  job->ho = array_dimension(array_field(words[SUBTILE_NB1], 16, 16), array_field(words[SUBTILE_REM1], 16, 16), g->pe_rows);
  job->wo = array_dimension(array_field(words[SUBTILE_NB1], 0, 16), array_field(words[SUBTILE_REM1], 0, 16), g->pe_columns);
  if (job->ki.count == 0 || job->ko.count == 0 || job->ho.count == 0 || job->wo.count == 0) {
    REFUSE("NEUREKA job has a dimension of 0 subtiles, write at least 1 into every SUBTILE_NB field");
  }
  if (job->ki.last > job->ki.full || job->ko.last > job->ko.full || job->ho.last > job->ho.full ||
      job->wo.last > job->wo.full) {
    REFUSE("NEUREKA subtile remainder is larger than a subtile, see SUBTILE_REM0 and SUBTILE_REM1");
  }
  if (depthwise && (job->ki.count != job->ko.count || job->ki.last != job->ko.last)) {
    REFUSE("NEUREKA depthwise needs equal input and output channel subtiles, see SUBTILE_NB0 and SUBTILE_REM0");
  }
  job->hi_full = g->pe_rows + halo;
  job->wi_full = g->pe_columns + halo;
  job->hi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 16, 16), job->hi_full).last;
  job->wi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 0, 16), job->wi_full).last;
  if (job->hi_last > job->hi_full || job->wi_last > job->wi_full) {
    REFUSE("NEUREKA input remainder is larger than the input buffer, see SUBTILE_REM2");
  }
  const uint64_t outputs = (uint64_t)array_dimension_total(&job->ho) * array_dimension_total(&job->wo);
  if (outputs > ARRAY_LARGEST_OUTPUT || outputs * array_dimension_total(&job->ko) > ARRAY_LARGEST_OUTPUT ||
      neureka_job_macs(job) > ARRAY_LARGEST_MACS) {
    REFUSE("NEUREKA job is larger than any memory it could work on, see SUBTILE_NB0 and SUBTILE_NB1");
  }
  return true;
}

static bool decode_padding(struct neureka_engine *engine, uint32_t word, struct neureka_job *job) {
  job->pad_top = array_field(word, 28, 4);
  job->pad_right = array_field(word, 24, 4);
  job->pad_bottom = array_field(word, 20, 4);
  job->pad_left = array_field(word, 16, 4);
  job->pad_value = (uint8_t)array_field(word, 0, 8);
  const bool any = job->pad_top || job->pad_right || job->pad_bottom || job->pad_left;
  if (any && job->mode == NEUREKA_1X1) REFUSE("NEUREKA 1x1 jobs cannot be padded, write 0 into PADDING[31:16]");
  if (job->pad_top > NEUREKA_HALO || job->pad_right > NEUREKA_HALO || job->pad_bottom > NEUREKA_HALO ||
      job->pad_left > NEUREKA_HALO) {
    REFUSE("NEUREKA pads at most 2 pixels per side, see PADDING");
  }
  const uint32_t halo = job->mode == NEUREKA_1X1 ? 0 : NEUREKA_HALO;
  if (neureka_is_rtl(&engine->options) && (job->hi_last + job->pad_bottom != job->ho.last + halo ||
                                           job->wi_last + job->pad_right != job->wo.last + halo)) {
    REFUSE("NEUREKA's RTL gets border pixels wrong here, state SUBTILE_REM2 minus bottom and right padding");
  }
  return true;
}

bool neureka_decode(struct neureka_engine *engine, const uint32_t *words, struct neureka_job *job) {
  *job = (struct neureka_job){0};
  if (words[FILTER_MASK] != 0) REFUSE("NEUREKA filter masks have no agreed encoding, write 0 into FILTER_MASK");
  if (!decode_config(engine, words[CONFIG0], job) || !decode_sizes(engine, words, job) ||
      !decode_padding(engine, words[PADDING], job)) {
    return false;
  }
  job->weight_offset = words[WEIGHT_OFFSET];
  job->at = array_places(words);
  return true;
}

uint64_t neureka_job_macs(const struct neureka_job *job) {
  const uint64_t outputs = (uint64_t)array_dimension_total(&job->ho) * array_dimension_total(&job->wo) *
                           array_dimension_total(&job->ko);
  switch (job->mode) {
    case NEUREKA_DEPTHWISE: return outputs * NEUREKA_TAPS;
    case NEUREKA_3X3: return outputs * NEUREKA_TAPS * array_dimension_total(&job->ki);
    default: return outputs * array_dimension_total(&job->ki);
  }
}
