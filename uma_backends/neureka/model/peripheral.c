/* SPDX-License-Identifier: Apache-2.0
 *
 * The NEUREKA model behind the peripheral interface: parameters, life cycle, function table. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* The Siracusa instance. */
static const struct neureka_options SIRACUSA = {
    .geometry = {.pe_rows = 6,
                 .pe_columns = 6,
                 .channels_1x1 = 32,
                 .channels_3x3 = 28,
                 .output_channels = 32,
                 .weight_beat_bytes = 32},
    .gvsoc_dw_wmem_quirk = false,
    .beat_w = 1000,
    .beat_x = 1000,
};

void neureka_fault(struct neureka_engine *engine, const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  engine->faulted = true;
  engine->running = false;
  engine->system.fault(engine->system.context, reason);
}

static bool set_parameter(struct neureka_options *options, const struct tvm_pulp_parameter *parameter, char *error,
                          size_t error_bytes) {
  const struct {
    const char *name;
    uint32_t *value;
    int64_t minimum, maximum;
  } table[] = {
      {"pe_rows", &options->geometry.pe_rows, 1, NEUREKA_MAX_PE_ROWS},
      {"pe_columns", &options->geometry.pe_columns, 1, NEUREKA_MAX_PE_COLUMNS},
      {"channels_1x1", &options->geometry.channels_1x1, 4, NEUREKA_MAX_CHANNELS},
      {"channels_3x3", &options->geometry.channels_3x3, 1, NEUREKA_MAX_CHANNELS},
      {"output_channels", &options->geometry.output_channels, 8, NEUREKA_MAX_CHANNELS},
      {"weight_beat_bytes", &options->geometry.weight_beat_bytes, 4, 128},
      {"beat_w", &options->beat_w, 1, 1000000},
      {"beat_x", &options->beat_x, 1, 1000000},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(parameter->name, table[i].name) != 0) continue;
    if (parameter->value < table[i].minimum || parameter->value > table[i].maximum) {
      snprintf(error, error_bytes, "parameter %s of neureka is %lld, choose %lld to %lld", parameter->name,
               (long long)parameter->value, (long long)table[i].minimum, (long long)table[i].maximum);
      return false;
    }
    *table[i].value = (uint32_t)parameter->value;
    return true;
  }
  if (strcmp(parameter->name, "timing_revision") == 0) {
    if (parameter->value != 202603 && parameter->value != 202604) {
      snprintf(error, error_bytes, "parameter timing_revision of neureka is %lld, choose 202603 or 202604",
               (long long)parameter->value);
      return false;
    }
    options->early_revision = parameter->value == 202603;
    return true;
  }
  if (strcmp(parameter->name, "gvsoc_dw_wmem_quirk") == 0) {
    if (parameter->value != 0 && parameter->value != 1) {
      snprintf(error, error_bytes, "parameter gvsoc_dw_wmem_quirk of neureka is %lld, choose 0 or 1",
               (long long)parameter->value);
      return false;
    }
    options->gvsoc_dw_wmem_quirk = parameter->value == 1;
    return true;
  }
  snprintf(error, error_bytes, "neureka has no parameter %s", parameter->name);
  return false;
}

/* A 3x3 beat carries one bit plane of all taps, a 1x1 beat eight bit planes of all channels. */
static bool check_geometry(const struct neureka_geometry *g, char *error, size_t error_bytes) {
  if (NEUREKA_TAPS * g->channels_3x3 > 8 * g->weight_beat_bytes) {
    snprintf(error, error_bytes, "a weight beat of %u bytes is too narrow for 9 taps of %u channels, widen it",
             g->weight_beat_bytes, g->channels_3x3);
    return false;
  }
  if (g->channels_1x1 > g->weight_beat_bytes || g->channels_1x1 % 4 != 0) {
    snprintf(error, error_bytes, "channels_1x1 is %u, choose a multiple of 4 up to the %u bytes of a weight beat",
             g->channels_1x1, g->weight_beat_bytes);
    return false;
  }
  if (g->output_channels % 8 != 0 || g->channels_3x3 > g->output_channels) {
    snprintf(error, error_bytes, "output_channels is %u, choose a multiple of 8 not below channels_3x3 = %u",
             g->output_channels, g->channels_3x3);
    return false;
  }
  return true;
}

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct neureka_options options = SIRACUSA;
  for (size_t i = 0; i < count; i++) {
    if (!set_parameter(&options, &parameters[i], error, error_bytes)) return NULL;
  }
  if (!check_geometry(&options.geometry, error, error_bytes)) return NULL;
  struct neureka_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) {
    snprintf(error, error_bytes, "no memory left for the neureka model");
    return NULL;
  }
  engine->system = *system;
  engine->options = options;
  neureka_reset(engine);
  return engine;
}

static void destroy(void *self) {
  struct neureka_engine *engine = self;
  free(engine->scratch.weights);
  free(engine->scratch.patches);
  free(engine->scratch.window);
  free(engine);
}

static void reset(void *self) { neureka_reset(self); }

/* Registers look the same from every core; the lock is cooperative and does not remember its owner. */
static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  (void)core;
  return neureka_read(self, offset, cycle);
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  (void)core;
  neureka_write(self, offset, value, cycle);
}

static uint64_t next_event(void *self) {
  const struct neureka_engine *engine = self;
  if (!engine->running) return TVM_PULP_NEVER;
  return engine->is_walking ? engine->walk.cycle : engine->job_end;
}

static void advance(void *self, uint64_t cycle) { neureka_advance(self, cycle); }

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  const struct neureka_engine *engine = self;
  *out = engine->statistics;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {
      .abi = TVM_PULP_PERIPHERAL_ABI,
      .name = "neureka",
      .register_bytes = 0x400,
      .create = create,
      .destroy = destroy,
      .reset = reset,
      .read = read_register,
      .write = write_register,
      .next_event = next_event,
      .advance = advance,
      .statistics = statistics,
  };
  return &TABLE;
}
