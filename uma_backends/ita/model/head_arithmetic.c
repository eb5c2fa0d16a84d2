/* SPDX-License-Identifier: Apache-2.0
 *
 * One head: projections, logits, softmax, values, output projection. Sums and their products with multipliers have 32 bits. */
#include <stdlib.h>
#include <string.h>

#include "heads.h"

enum { SPLIT = 16, GROUP = 16, UNIT_BITS = 5, ONE = 1024, LARGEST = 127 };
enum { RULE_Q, RULE_K, RULE_LOGITS, RULE_V, RULE_VALUES, RULE_OUT };

uint32_t head_bytes(uint32_t s, uint32_t e, uint32_t p) { return 4 * p * e + 2 * s * e + 4 * (e + 3 * p); }

static int8_t requantize(uint32_t sum, struct heads_requant rule) {
  const int32_t product = (int32_t)(sum * rule.multiplier);
  const int64_t half = rule.shift > 0 ? (product >> (rule.shift - 1)) & 1 : 0;
  const int64_t value = (int64_t)(product >> rule.shift) + rule.add + half;
  return (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
}

/* How often a value so far below the largest is halved: 32 steps are an octave. */
static uint32_t halvings(int32_t distance) { return (uint32_t)(distance + (1 << (UNIT_BITS - 1))) >> UNIT_BITS; }

static int32_t bias_of(const uint8_t *biases, uint32_t column) {
  int32_t value;
  memcpy(&value, biases + 4 * column, sizeof value);
  return value;
}

/* Rows of x times rows of w: [rows][columns], a bias per column where there are any. */
static void multiply(const int8_t *x, uint32_t rows, const int8_t *w, uint32_t columns, uint32_t depth,
                     const uint8_t *biases, struct heads_requant rule, int8_t *y) {
  for (uint32_t row = 0; row < rows; row++) {
    for (uint32_t column = 0; column < columns; column++) {
      const int8_t *a = x + (size_t)row * depth, *b = w + (size_t)column * depth;
      int32_t sum = 0;
      for (uint32_t i = 0; i < depth; i++) sum += a[i] * b[i];
      const uint32_t bias = biases != NULL ? (uint32_t)bias_of(biases, column) : 0;
      y[(size_t)row * columns + column] = requantize((uint32_t)sum + bias, rule);
    }
  }
}

static void join(const uint8_t *split, uint32_t rows, uint32_t columns, int8_t *matrix) {
  for (uint32_t first = 0; first < columns; first += SPLIT)
    for (uint32_t row = 0; row < rows; row++, split += SPLIT) memcpy(matrix + (size_t)row * columns + first, split, SPLIT);
}

/* In groups as the columns come; what was summed before a larger value is halved, rounding down. */
static void softmax(int8_t *row, uint32_t length) {
  int32_t largest = -128;
  uint32_t total = 0;
  for (uint32_t first = 0; first < length; first += GROUP) {
    int32_t higher = largest;
    for (uint32_t i = 0; i < GROUP; i++) higher = row[first + i] > higher ? row[first + i] : higher;
    total >>= halvings(higher - largest);
    for (uint32_t i = 0; i < GROUP; i++) total += ONE >> halvings(higher - row[first + i]);
    largest = higher;
  }
  const uint32_t inverse = LARGEST * ONE / total;
  for (uint32_t i = 0; i < length; i++) row[i] = (int8_t)(inverse >> halvings(largest - row[i]));
}

static void transpose(const int8_t *x, uint32_t rows, uint32_t columns, int8_t *y) {
  for (uint32_t row = 0; row < rows; row++)
    for (uint32_t column = 0; column < columns; column++) y[(size_t)column * rows + row] = x[(size_t)row * columns + column];
}

bool head_compute(const struct heads_job *job, struct head_operands operands) {
  const uint32_t s = job->s, e = job->e, p = job->p;
  const size_t pe = (size_t)p * e, se = (size_t)s * e, sp = (size_t)s * p;
  const uint8_t *biases = operands.blob + 4 * pe + 2 * se;
  int8_t *room = malloc(2 * se + pe + 4 * sp + (size_t)s * s);
  if (room == NULL) return false;
  int8_t *source = room, *keys_source = source + se, *weights = keys_source + se, *q = weights + pe;
  int8_t *k = q + sp, *v = k + sp, *turned = v + sp, *logits = turned + sp;
  const int8_t *wo = (const int8_t *)operands.blob, *wv = wo + pe, *wk = wv + pe;
  join(operands.positions, s, e, source);
  join(operands.positions + se, s, e, keys_source);
  join(operands.blob + 3 * pe + 2 * se, p, e, weights);
  multiply(source, s, weights, p, e, biases + 4 * (e + 2 * p), job->rules[RULE_Q], q);
  multiply(keys_source, s, wk, p, e, biases + 4 * (e + p), job->rules[RULE_K], k);
  multiply(q, s, k, s, p, NULL, job->rules[RULE_LOGITS], logits);
  for (uint32_t row = 0; row < s; row++) softmax(logits + (size_t)row * s, s);
  multiply(keys_source, s, wv, p, e, biases + 4 * e, job->rules[RULE_V], v);
  transpose(v, s, p, turned);
  multiply(logits, s, turned, p, s, NULL, job->rules[RULE_VALUES], q);
  multiply(q, s, wo, e, p, biases, job->rules[RULE_OUT], operands.out);
  free(room);
  return true;
}
