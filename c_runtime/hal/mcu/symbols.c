/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the program's symbols and what they hold. Only on request. */
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

/* A line, and the zero that ends it. */
static volatile uint8_t line[128];
static uint32_t length;

static void flush(void) {
  line[length] = 0;
  tvm_pulp_semihosting(TVM_PULP_HOST_WRITE_TEXT, (uint32_t)(uintptr_t)line);
  length = 0;
}

static void put(uint32_t character) {
  line[length++] = (uint8_t)character;
  if (character == '\n' || length == sizeof line - 1u) flush();
}

static void put_text(const char *text) {
  for (; *text != 0; text++) put((uint8_t)*text);
}

static void put_hex(uint32_t value, uint32_t digits) {
  for (uint32_t shift = 4u * digits; shift != 0u; shift -= 4u) {
    const uint32_t digit = value >> (shift - 4u) & 15u;
    put(digit < 10u ? '0' + digit : 'a' + digit - 10u);
  }
}

static void put_field(uint32_t value) {
  put(' ');
  put_hex(value, 8);
}

static void put_symbol(const struct tvm_pulp_symbol *symbol) {
  put_text("symbol ");
  put_text(symbol->name);
  put_field((uint32_t)(uintptr_t)symbol->address);
  put_field(symbol->bytes);
  put('\n');
}

static void put_contents(const struct tvm_pulp_symbol *symbol) {
  volatile const uint8_t *data = symbol->address;
  for (uint32_t offset = 0; offset < symbol->bytes; offset += 32u) {
    put_text("data ");
    put_text(symbol->name);
    put_field(offset);
    put(' ');
    for (uint32_t i = offset; i < offset + 32u && i < symbol->bytes; i++) put_hex(data[i], 2);
    put('\n');
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
