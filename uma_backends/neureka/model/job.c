/* SPDX-License-Identifier: Apache-2.0
 *
 * From 24 register words to a decoded job; everything this NPU cannot do, or nobody ever tested, is refused here. */
#include <inttypes.h>

#include "engine.h"

#define REFUSE(...) JOB_QUEUE_REFUSE(&engine->queue, __VA_ARGS__)

static bool decode_config(struct neureka_engine *engine, uint32_t config, struct array_job *job) {
  if (!array_decode_config(&engine->queue, config, job)) return false;
  if (array_field(config, 3, 1)) REFUSE("NEUREKA has no 16-bit activation mode, clear CONFIG0[3]");
  if (array_field(config, 7, 1)) REFUSE("NEUREKA has no linear mode, use 1x1 on one pixel and clear CONFIG0[7]");
  if (array_field(config, 8, 1)) REFUSE("NEUREKA has no 2x2-strided mode on this target, clear CONFIG0[8]");
  job->weight_memory = array_field(config, 9, 1);
  job->prefetch = array_field(config, 10, 1);
  if (job->prefetch && !job->weight_memory) {
    REFUSE("NEUREKA prefetch hangs with weights in L1, set CONFIG0[9] (weight memory) or clear CONFIG0[10]");
  }
  if (job->prefetch && job->mode == ARRAY_DEPTHWISE) {
    REFUSE("NEUREKA prefetch in depthwise mode was never verified, clear CONFIG0[10]");
  }
  if (!array_field(config, 15, 1)) REFUSE("NEUREKA weight offset mode 0 was never verified, set CONFIG0[15]");
  if (job->output_bytes == 0) {
    REFUSE("NEUREKA output mode %" PRIu32 " is not supported, use 0 (8 bit) or 2 (32 bit)", array_field(config, 21, 2));
  }
  if (!array_check_output(&engine->queue, job)) return false;
  job->input_signed = array_field(config, 26, 1);
  if (job->input_signed && !engine->options.geometry.signed_input) {
    REFUSE("NEUREKA has no signed input on this SoC, add 128 to activations and clear CONFIG0[26]");
  }
  if (array_field(config, 27, 5)) REFUSE("NEUREKA CONFIG0[31:27] are reserved on this target, write 0");
  if (job->norm_quant && array_field(config, 12, 1)) {
    REFUSE("NEUREKA scale mode %" PRIu32 " was never verified, use 0 (8 bit) or 2 (32 bit)", array_field(config, 12, 2));
  }
  return true;
}

/* A beat carries one bit plane of all taps, or in 1x1 all planes. */
static struct array_filters filters_of(const struct neureka_geometry *g, const struct array_job *job) {
  const uint32_t planes = job->mode == ARRAY_1X1 ? 1 : job->weight_bits, group = planes * g->weight_beat_bytes;
  return (struct array_filters){
      .groups = array_is_depthwise(job) ? 1 : job->ki.count,
      .channels = job->ki.full,
      .planes = planes,
      .plane_bytes = g->weight_beat_bytes,
      .plane_stride = job->at.weights_d0,
      .group_stride = group,
      .major_stride = array_is_depthwise(job) ? group : job->ko.full * job->ki.count * group,
  };
}

bool neureka_decode(struct neureka_engine *engine, const uint32_t *words, struct array_job *job) {
  const struct neureka_geometry *g = &engine->options.geometry;
  *job = (struct array_job){0};
  if (words[FILTER_MASK] != 0) REFUSE("NEUREKA filter masks have no agreed encoding, write 0 into FILTER_MASK");
  if (!decode_config(engine, words[CONFIG0], job)) return false;
  const struct array_subtiles full = {
      .ki = job->mode == ARRAY_1X1 ? g->channels_1x1 : g->channels_3x3,
      .ko = array_is_depthwise(job) ? g->channels_3x3 : g->output_channels,
      .ho = g->pe_rows,
      .wo = g->pe_columns,
  };
  if (!array_decode_sizes(&engine->queue, words, full, job) || !array_decode_window(&engine->queue, words, job) ||
      !array_decode_padding(&engine->queue, words[PADDING], job)) {
    return false;
  }
  const uint32_t halo = array_kernel(job) - 1;
  if (neureka_is_rtl(&engine->options) && (job->hi_last + job->pad_bottom != job->ho.last + halo ||
                                           job->wi_last + job->pad_right != job->wo.last + halo)) {
    REFUSE("NEUREKA's RTL gets border pixels wrong here, state SUBTILE_REM2 minus bottom and right padding");
  }
  job->weight_offset = (int32_t)words[WEIGHT_OFFSET];
  job->at = array_places(words);
  job->filters = filters_of(g, job);
  return true;
}
