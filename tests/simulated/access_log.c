/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked around the simulator's memory accesses: remembers every word address that cores touch outside their own fast
 * memory, and every range the DMA is given. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct hart;
struct platform;

enum { WORDS_PER_PAGE = 1024, PAGES = 1 << 20 };
static uint8_t *pages[PAGES];

static void note(uint32_t address) {
  uint8_t **page = &pages[address >> 12];
  if (*page == NULL) *page = calloc(WORDS_PER_PAGE, 1);
  if (*page != NULL) (*page)[(address >> 2) % WORDS_PER_PAGE] = 1;
}

int __real_memory_access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value);
uint8_t *__real_memory_at(const struct platform *platform, uint32_t address, uint64_t bytes, int is_write);

int __wrap_memory_access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value) {
  note(address);
  return __real_memory_access(hart, address, size, is_write, value);
}

uint8_t *__wrap_memory_at(const struct platform *platform, uint32_t address, uint64_t bytes, int is_write) {
  if (bytes != 0) {
    note(address);
    note(address + (uint32_t)bytes - 1);
  }
  return __real_memory_at(platform, address, bytes, is_write);
}

/* One word address a line, at the end of the process. */
__attribute__((destructor)) static void write_log(void) {
  const char *path = getenv("TVM_PULP_ACCESS_LOG");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  for (uint32_t page = 0; page < PAGES; page++) {
    for (uint32_t word = 0; pages[page] != NULL && word < WORDS_PER_PAGE; word++) {
      if (pages[page][word]) fprintf(file, "%08x\n", page << 12 | word << 2);
    }
  }
  fclose(file);
}
