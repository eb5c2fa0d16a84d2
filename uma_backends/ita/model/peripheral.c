/* SPDX-License-Identifier: Apache-2.0
 *
 * The ITA model behind the peripheral interface: parameters, life cycle, function table. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void ita_fault(struct ita_engine *engine, const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  engine->faulted = true;
  engine->running = false;
  engine->system.fault(engine->system.context, reason);
}

static bool set_parameter(struct ita_options *options, const struct tvm_pulp_parameter *parameter, char *error,
                          size_t error_bytes) {
  const struct {
    const char *name;
    uint32_t *value;
    int64_t minimum, maximum;
  } table[] = {
      {"contexts", &options->contexts, 1, ITA_MAX_CONTEXTS},
      {"tcdm_base", &options->tcdm_base, 0, UINT32_MAX},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(parameter->name, table[i].name) != 0) continue;
    if (parameter->value < table[i].minimum || parameter->value > table[i].maximum) {
      snprintf(error, error_bytes, "parameter %s of ita is %lld, choose %lld to %lld", parameter->name,
               (long long)parameter->value, (long long)table[i].minimum, (long long)table[i].maximum);
      return false;
    }
    *table[i].value = (uint32_t)parameter->value;
    return true;
  }
  snprintf(error, error_bytes, "ita has no parameter %s", parameter->name);
  return false;
}

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct ita_options options = {.contexts = ITA_MAX_CONTEXTS, .tcdm_base = 0x10000000u};
  for (size_t i = 0; i < count; i++) {
    if (!set_parameter(&options, &parameters[i], error, error_bytes)) return NULL;
  }
  struct ita_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) {
    snprintf(error, error_bytes, "no memory left for the ita model");
    return NULL;
  }
  engine->system = *system;
  engine->options = options;
  return engine;
}

static void destroy(void *self) { free(self); }

static void reset(void *self) { ita_reset(self); }

/* Registers look the same from every core; the lock is cooperative and does not remember its owner. */
static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  (void)core;
  return ita_read(self, offset, cycle);
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  (void)core;
  ita_write(self, offset, value, cycle);
}

static uint64_t next_event(void *self) {
  const struct ita_engine *engine = self;
  if (!engine->running) return TVM_PULP_NEVER;
  return engine->job_end == TVM_PULP_NEVER ? engine->stream.cycle : engine->job_end;
}

static void advance(void *self, uint64_t cycle) { ita_advance(self, cycle); }

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  const struct ita_engine *engine = self;
  *out = engine->statistics;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {
      .abi = TVM_PULP_PERIPHERAL_ABI,
      .name = "ita",
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
