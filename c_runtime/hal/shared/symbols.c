/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the program's symbols and what they hold, only on request. It must be small before it is quick: every program
 * carries it. */
#include "tvm_pulp/symbols.h"

#include "run_state.h"

/* In .data, so that a loader finds it in the file. */
volatile uint32_t tvm_pulp_request __attribute__((section(".data.request"))) = 0;

static const struct tvm_pulp_symbol run_symbols[] = {
    {"tvm_pulp_inferences", &tvm_pulp_inferences, sizeof tvm_pulp_inferences},
    {"tvm_pulp_cycles", &tvm_pulp_cycles, sizeof tvm_pulp_cycles},
    {"tvm_pulp_mark_count", &tvm_pulp_mark_count, sizeof tvm_pulp_mark_count},
    {"tvm_pulp_layer_cycles", &tvm_pulp_layer_cycles, sizeof tvm_pulp_layer_cycles},
    {0, 0, 0},
};

static __attribute__((noinline)) void put_text(const char *text) {
  for (; *text != 0; text++) tvm_pulp_put((uint8_t)*text);
}

static __attribute__((noinline)) void put_hex(uint32_t value, uint32_t digits) {
  for (uint32_t shift = 4u * digits; shift != 0u; shift -= 4u) {
    const uint32_t digit = value >> (shift - 4u) & 15u;
    tvm_pulp_put(digit < 10u ? '0' + digit : 'a' + digit - 10u);
  }
}

static __attribute__((noinline)) void put_field(uint32_t value) {
  tvm_pulp_put(' ');
  put_hex(value, 8);
}

static void put_symbol(const struct tvm_pulp_symbol *symbol) {
  put_text("symbol ");
  put_text(symbol->name);
  put_field((uint32_t)(uintptr_t)symbol->address);
  put_field(symbol->bytes);
  tvm_pulp_put('\n');
}

static void put_contents(const struct tvm_pulp_symbol *symbol) {
  volatile const uint8_t *data = symbol->address;
  for (uint32_t offset = 0; offset < symbol->bytes; offset += 32u) {
    put_text("data ");
    put_text(symbol->name);
    put_field(offset);
    tvm_pulp_put(' ');
    for (uint32_t i = offset; i < offset + 32u && i < symbol->bytes; i++) put_hex(data[i], 2);
    tvm_pulp_put('\n');
  }
}

static void for_all(void (*print)(const struct tvm_pulp_symbol *)) {
  for (const struct tvm_pulp_symbol *s = run_symbols; s->name != 0; s++) print(s);
  if (tvm_pulp_symbols != 0) {
    for (const struct tvm_pulp_symbol *s = tvm_pulp_symbols; s->name != 0; s++) print(s);
  }
  put_text("end\n");
}

void tvm_pulp_print_table(void) {
  if (tvm_pulp_request & TVM_PULP_REQUEST_TABLE) for_all(put_symbol);
}

void tvm_pulp_print_contents(void) {
  if (tvm_pulp_request & TVM_PULP_REQUEST_CONTENTS) for_all(put_contents);
}
