/* SPDX-License-Identifier: Apache-2.0 */
#include "guests.h"

#include <string.h>

#include "default_settings.h"

struct code code;
static uint64_t state;

void seed(uint64_t number) { state = number * 0x2545f4914f6cdd1du + 1; }

uint32_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) >> 16);
}

uint32_t below(uint32_t limit) { return draw() % limit; }

uint32_t any_of(const uint32_t *borders, size_t count, uint32_t base, uint32_t bytes) {
  switch (below(5)) {
    case 0: return draw();
    case 1: return below(64);
    case 2: return 1u << below(32);
    case 3: return base + below(bytes);
    default: return borders[below((uint32_t)count)];
  }
}

uint32_t any_in(const struct range *ranges, size_t count, int is_store) {
  const struct range *range;
  do range = &ranges[below((uint32_t)count)];
  while (is_store ? !range->stores : !range->loads);
  return range->first + 4 * below(range->words);
}

struct platform *create_with(const char *const *names, int64_t *values, size_t count, int is_absurd, char *error,
                             size_t error_bytes) {
  static const uint32_t borders[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff, 0x10000};
  if (is_absurd)
    for (uint32_t i = 0; i < 2; i++)
      values[below((uint32_t)count)] =
          below(2) ? (int64_t)any_of(borders, COUNT(borders), 0x10000000, 0x40000) - (int64_t)below(3) : (int64_t)below(40);
  /* What a machine does not name is as in the default SoC; of two values the later one counts. */
  static const char *all_names[COUNT(default_values) + MOST_SETTINGS];
  static int64_t all_values[COUNT(default_values) + MOST_SETTINGS];
  if (count > MOST_SETTINGS) return NULL;
  memcpy(all_names, default_names, sizeof default_names);
  memcpy(all_values, default_values, sizeof default_values);
  memcpy(all_names + COUNT(default_names), names, count * sizeof *names);
  memcpy(all_values + COUNT(default_values), values, count * sizeof *values);
  return iss_create(all_names, all_values, COUNT(default_values) + count, error, error_bytes);
}

void put(uint32_t word) {
  if (code.count < CODE_WORDS) code.words[code.count++] = word;
}

/* li */
void load_constant(uint32_t reg, uint32_t constant) {
  put(((constant + 0x800) & 0xfffff000) | reg << 7 | 0x37);
  put((constant & 0xfff) << 20 | reg << 15 | reg << 7 | 0x13);
}

void put_access(uint32_t where, uint32_t what, int is_store) {
  uint32_t width = below(1000) ? 2 : below(3);
  load_constant(5, where);
  load_constant(6, what);
  if (is_store) put(6u << 20 | 5u << 15 | width << 12 | 0x23);
  else put(5u << 15 | width << 12 | 7u << 7 | 0x03);
}

void put_sleeping_load(uint32_t where) {
  load_constant(5, where);
  put(5u << 15 | 6u << 12 | 7u << 7 | 0x03);
}
