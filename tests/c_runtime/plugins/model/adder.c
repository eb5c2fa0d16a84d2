/* A small engine for tests of plug-ins: y[i] = x[i] + w[i] + bias of LEN bytes; x and y in L1, w in weight memory, or
 * with `flat` in L1 too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

enum { START = 0x00, STATUS = 0x04, X = 0x08, W = 0x0c, Y = 0x10, LENGTH = 0x14, DELAYED = 0x18, REGISTER_BYTES = 0x40 };

struct adder {
  struct tvm_pulp_system system;
  struct tvm_pulp_peripheral_statistics statistics;
  uint32_t words[REGISTER_BYTES / 4];
  uint32_t cycles_per_byte, bias, flat;
  uint64_t end, late;
  int running;
};

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct adder *adder = calloc(1, sizeof *adder);
  adder->system = *system;
  adder->cycles_per_byte = 1;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(parameters[i].name, "cycles_per_byte") == 0) {
      adder->cycles_per_byte = (uint32_t)parameters[i].value;
    } else if (strcmp(parameters[i].name, "bias") == 0) {
      adder->bias = (uint32_t)parameters[i].value;
    } else if (strcmp(parameters[i].name, "flat") == 0) {
      adder->flat = (uint32_t)parameters[i].value;
    } else {
      snprintf(error, error_bytes, "no parameter %s", parameters[i].name);
      free(adder);
      return NULL;
    }
  }
  return adder;
}

static void destroy(void *self) { free(self); }

static void reset(void *self) {
  struct adder *adder = self;
  memset(adder->words, 0, sizeof adder->words);
  adder->running = 0;
}

static uint8_t *memory(struct adder *adder, enum tvm_pulp_port port, uint32_t pointer) {
  return adder->system.memory(adder->system.context, port, adder->words[pointer / 4], adder->words[LENGTH / 4]);
}

static uint8_t *weights(struct adder *adder) {
  return memory(adder, adder->flat ? TVM_PULP_PORT_L1 : TVM_PULP_PORT_WEIGHT, W);
}

static void start(struct adder *adder, uint64_t cycle) {
  const uint32_t length = adder->words[LENGTH / 4];
  if (memory(adder, TVM_PULP_PORT_L1, X) == NULL || weights(adder) == NULL) {
    adder->system.fault(adder->system.context, "an operand lies outside");
    return;
  }
  adder->late = 0;
  if (adder->system.take_banks != NULL)
    adder->late = adder->system.take_banks(adder->system.context, adder->words[X / 4], length, cycle);
  adder->end = cycle + 10 + length * adder->cycles_per_byte + adder->late;
  adder->running = 1;
  adder->statistics.jobs++;
  adder->statistics.busy_cycles += adder->end - cycle;
  adder->system.claim(adder->system.context, TVM_PULP_PORT_L1, adder->words[Y / 4], length, 1, adder->end);
}

static void finish(struct adder *adder) {
  const uint8_t *x = memory(adder, TVM_PULP_PORT_L1, X), *w = weights(adder);
  uint8_t *y = memory(adder, TVM_PULP_PORT_L1, Y);
  if (y == NULL) {
    adder->system.fault(adder->system.context, "the result lies outside");
    return;
  }
  for (uint32_t i = 0; i < adder->words[LENGTH / 4]; i++) y[i] = (uint8_t)(x[i] + w[i] + adder->bias);
  adder->running = 0;
  adder->system.release(adder->system.context);
  adder->system.raise(adder->system.context, adder->end + adder->words[DELAYED / 4]);
}

static void advance(void *self, uint64_t cycle) {
  struct adder *adder = self;
  if (adder->running && adder->end <= cycle) finish(adder);
}

static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  struct adder *adder = self;
  (void)core;
  advance(adder, cycle);
  return offset == STATUS ? (uint32_t)adder->running : adder->words[offset / 4];
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct adder *adder = self;
  (void)core;
  advance(adder, cycle);
  adder->words[offset / 4] = value;
  if (offset == START) start(adder, cycle);
}

static uint64_t next_event(void *self) {
  const struct adder *adder = self;
  return adder->running ? adder->end : TVM_PULP_NEVER;
}

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) { *out = ((struct adder *)self)->statistics; }

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {
      .abi = TVM_PULP_PERIPHERAL_ABI,
      .name = "adder",
      .register_bytes = REGISTER_BYTES,
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
