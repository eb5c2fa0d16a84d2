/* SPDX-License-Identifier: Apache-2.0
 *
 * What hostile guests of all machines have in common: numbers that break things, and code made of them. */
#ifndef FUZZ_GUESTS_H
#define FUZZ_GUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "iss.h"

enum { CODE_WORDS = 1024, MOST_CORES = 9, MOST_SETTINGS = 64 };

/* A machine to run them on. */
struct machine {
  uint32_t cores;     /* harts that run code, each its own 4 KiB of it */
  uint32_t code;      /* where the first of them is */
  uint32_t engine;    /* base of the accelerator's registers */
  uint32_t event_line;
  /* NULL with the reason in `error`; `is_absurd`: with settings that make no sense. */
  struct platform *(*create)(int is_absurd, char *error, size_t error_bytes);
  uint32_t (*value)(void);
  /* Of a register or of memory, now and then of nothing. */
  uint32_t (*address)(int is_store);
  void (*put_sequence)(uint32_t core); /* of accesses that belong together, with one or two things wrong */
  uint32_t (*instruction)(void);
  void (*put_end)(void);
};

extern const struct machine siracusa, snitch, mcu;

void seed(uint64_t number);
uint32_t draw(void);
uint32_t below(uint32_t limit);
/* One of some numbers, or one that is random, small, a single bit, or in the first bytes behind an address. */
uint32_t any_of(const uint32_t *borders, size_t count, uint32_t base, uint32_t bytes);

/* Registers that exist, by where they can be reached and whether they are for stores and loads. */
struct range {
  uint32_t first, words;
  int stores, loads;
};
uint32_t any_in(const struct range *ranges, size_t count, int is_store);

struct platform *create_with(const char *const *names, int64_t *values, size_t count, int is_absurd, char *error,
                             size_t error_bytes);

struct code {
  uint32_t words[CODE_WORDS];
  uint32_t count;
};
extern struct code code;

void put(uint32_t word);
void load_constant(uint32_t reg, uint32_t constant);
void put_access(uint32_t where, uint32_t what, int is_store);
void put_sleeping_load(uint32_t where);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif /* FUZZ_GUESTS_H */
