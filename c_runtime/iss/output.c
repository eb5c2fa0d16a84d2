/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard output of the guest: one buffered line per core, so that lines of different cores do not mix. */
#include <stdlib.h>
#include <string.h>

#include "platform.h"

enum { LINE_BYTES_MAX = 4096, TEXT_BYTES_MAX = 64 << 20 };

static void append(struct output *output, const char *text, size_t bytes) {
  if (output->bytes + bytes > output->capacity) {
    size_t capacity = 2 * (output->bytes + bytes) + 256;
    char *grown = realloc(output->text, capacity);
    if (!grown) return;
    output->text = grown;
    output->capacity = capacity;
  }
  memcpy(output->text + output->bytes, text, bytes);
  output->bytes += bytes;
}

static void flush_line(struct output *output, uint32_t cluster, uint32_t core) {
  append(output, output->line[cluster][core], output->line_bytes[cluster][core]);
  output->line_bytes[cluster][core] = 0;
}

int output_is_full(const struct output *output) { return output->bytes > TEXT_BYTES_MAX; }

void output_character(struct output *output, uint32_t cluster, uint32_t core, char character) {
  char **line = &output->line[cluster][core];
  if (!*line) *line = malloc(LINE_BYTES_MAX);
  if (!*line) return;
  (*line)[output->line_bytes[cluster][core]++] = character;
  if (character == '\n' || output->line_bytes[cluster][core] == LINE_BYTES_MAX) flush_line(output, cluster, core);
}

void guest_prints(struct platform *platform, const struct hart *hart, uint32_t cluster, uint32_t core, char character) {
  output_character(&platform->output, cluster, core, character);
  if (output_is_full(&platform->output))
    platform_fault(platform, FAULT_PERIPHERAL, hart, 0, "the program has printed more than 64 MiB");
}

void output_flush(struct output *output) {
  for (uint32_t cluster = 0; cluster < 64; cluster++)
    for (uint32_t core = 0; core < 16; core++)
      if (output->line_bytes[cluster][core]) flush_line(output, cluster, core);
}

void output_destroy(struct output *output) {
  for (uint32_t cluster = 0; cluster < 64; cluster++)
    for (uint32_t core = 0; core < 16; core++) free(output->line[cluster][core]);
  free(output->text);
}
