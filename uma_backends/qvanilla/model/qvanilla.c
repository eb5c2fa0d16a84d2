/* SPDX-License-Identifier: Apache-2.0
 *
 * QVanilla behind tvm_pulp/peripheral.h: y[o][r][c] = bias[o] + sum of (x - x_zero_point) * (w - w_zero_point), stride 1,
 * padded so that y is as large as x. Registers at 0x0000: a job takes no time, at 0x2000: so many cycles for a product. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

enum { INPUT, WEIGHTS, BIAS, RESULT, OUTPUTS, WIDTH, HEIGHT, CHANNELS, KERNEL_H, KERNEL_W, X_ZERO, W_ZERO, WORDS };
enum { START = 0x30, STATUS = 0x34, CYCLES_PER_MAC = 0x38, TIMED = 0x2000, REGISTER_BYTES = 0x4000, LARGEST_KERNEL = 31 };

struct engine {
  struct tvm_pulp_system system;
  struct tvm_pulp_peripheral_statistics statistics;
  uint32_t word[2][WORDS]; /* of the variants */
  uint32_t variant, cycles_per_mac, running;
  uint64_t end;
};

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct engine *engine = count == 0 ? calloc(1, sizeof *engine) : NULL;
  if (engine != NULL) engine->system = *system;
  if (count != 0) snprintf(error, error_bytes, "qvanilla has no parameter %s", parameters[0].name);
  return engine;
}

static void reset(void *self) {
  const struct tvm_pulp_system system = ((struct engine *)self)->system;
  *(struct engine *)self = (struct engine){.system = system, .cycles_per_mac = 2};
}

static uint64_t bytes_of(const uint32_t *word, uint32_t operand) {
  const uint64_t pixels = (uint64_t)word[WIDTH] * word[HEIGHT], taps = (uint64_t)word[KERNEL_H] * word[KERNEL_W];
  if (operand <= WEIGHTS) return word[CHANNELS] * (operand == INPUT ? pixels : taps * word[OUTPUTS]);
  return 4u * word[OUTPUTS] * (operand == BIAS ? 1u : pixels);
}

static uint8_t *memory(struct engine *engine, uint32_t operand) {
  const uint32_t *word = engine->word[engine->variant];
  const uint64_t bytes = bytes_of(word, operand);
  if (bytes == 0 || bytes > UINT32_MAX) return NULL;
  return engine->system.memory(engine->system.context, TVM_PULP_PORT_L1, word[operand], (uint32_t)bytes);
}

static uint32_t sum_at(const uint32_t *word, const int8_t *x, const int8_t *weight, int32_t row, int32_t column) {
  const int32_t height = (int32_t)word[HEIGHT], width = (int32_t)word[WIDTH], kernel = (int32_t)word[KERNEL_H];
  uint32_t sum = 0;
  for (uint32_t c = 0; c < word[CHANNELS]; c++, x += height * width) {
    for (int32_t tap = 0; tap < kernel * kernel; tap++, weight++) {
      const int32_t iy = row + tap / kernel - kernel / 2, ix = column + tap % kernel - kernel / 2;
      if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
      sum += ((uint32_t)x[iy * width + ix] - word[X_ZERO]) * ((uint32_t)*weight - word[W_ZERO]);
    }
  }
  return sum;
}

/* Results appear when the job ends. */
static void advance(void *self, uint64_t cycle) {
  struct engine *engine = self;
  const uint32_t *word = engine->word[engine->variant];
  if (!engine->running || engine->end > cycle) return;
  const int8_t *x = (const int8_t *)memory(engine, INPUT), *weight = (const int8_t *)memory(engine, WEIGHTS);
  const uint32_t *bias = (const uint32_t *)(const void *)memory(engine, BIAS);
  uint32_t *y = (uint32_t *)(void *)memory(engine, RESULT);
  for (uint32_t o = 0; o < word[OUTPUTS]; o++, weight += word[CHANNELS] * word[KERNEL_H] * word[KERNEL_W])
    for (int32_t row = 0; row < (int32_t)word[HEIGHT]; row++)
      for (int32_t column = 0; column < (int32_t)word[WIDTH]; column++)
        *y++ = bias[o] + sum_at(word, x, weight, row, column);
  engine->running = 0;
}

static void start(struct engine *engine, uint32_t variant, uint64_t cycle) {
  const uint32_t *word = engine->word[variant];
  const uint64_t macs = bytes_of(word, WEIGHTS) * word[WIDTH] * word[HEIGHT];
  int fits = !engine->running && word[KERNEL_H] == word[KERNEL_W] && word[KERNEL_H] % 2 == 1 && word[KERNEL_H] <= LARGEST_KERNEL;
  for (uint32_t i = OUTPUTS; fits && i <= KERNEL_W; i++) fits = word[i] < 1u << 15;
  engine->variant = fits ? variant : engine->variant;
  for (uint32_t i = INPUT; fits && i <= RESULT; i++) fits = memory(engine, i) && (i < BIAS || word[i] % 4 == 0);
  if (!fits) {
    engine->system.fault(engine->system.context, "it runs, its kernel is not square, odd and at most 31, or an operand is nowhere");
    return;
  }
  engine->running = 1;
  engine->end = cycle + (variant ? macs * engine->cycles_per_mac : 0);
  for (uint32_t i = INPUT; i <= RESULT; i++)
    engine->system.claim(engine->system.context, TVM_PULP_PORT_L1, word[i], (uint32_t)bytes_of(word, i), i == RESULT,
                         engine->end);
  engine->statistics.jobs++;
  engine->statistics.macs += macs;
  engine->statistics.busy_cycles += engine->end - cycle;
  advance(engine, cycle);
}

static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  (void)core;
  advance(self, cycle);
  return offset % TIMED == STATUS ? (uint32_t)((struct engine *)self)->running : 0;
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct engine *engine = self;
  (void)core;
  advance(engine, cycle);
  if (offset % TIMED < START) engine->word[offset / TIMED][offset % TIMED / 4] = value;
  else if (offset % TIMED == START && value == 1) start(engine, offset / TIMED, cycle);
  else if (offset == TIMED + CYCLES_PER_MAC) engine->cycles_per_mac = value;
  else engine->system.fault(engine->system.context, "there is no such register");
}

static uint64_t next_event(void *self) {
  return ((struct engine *)self)->running ? ((struct engine *)self)->end : TVM_PULP_NEVER;
}

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  *out = ((struct engine *)self)->statistics;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {TVM_PULP_PERIPHERAL_ABI, "qvanilla", REGISTER_BYTES, create, free, reset,
                                                   read_register, write_register, next_event, advance, statistics};
  return &TABLE;
}
