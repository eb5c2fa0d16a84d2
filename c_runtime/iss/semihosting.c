/* SPDX-License-Identifier: Apache-2.0
 *
 * RISC-V semihosting: an ebreak between two instructions without effect asks the host. The operation is in a0, its
 * argument in a1, the answer comes back in a0. Only printing and the end of the run are here. */
#include <string.h>

#include "memory.h"

enum { BEFORE = 0x01f01013, BEHIND = 0x40705013 }; /* slli x0, x0, 0x1f and srai x0, x0, 7 */
enum { A0 = 10, A1 = 11 };
enum { SYS_WRITEC = 0x03, SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

static int word_at(const struct hart *hart, uint32_t address, uint32_t *word) {
  const uint8_t *memory = memory_at(hart->platform, address, 4, 0);
  if (memory) memcpy(word, memory, 4);
  return memory != NULL;
}

int is_semihosting_call(const struct hart *hart) {
  uint32_t pc = hart_pc(hart), before = 0, behind = 0;
  return word_at(hart, pc - 4, &before) && word_at(hart, pc + 4, &behind) && before == BEFORE && behind == BEHIND;
}

static int refuse(struct hart *hart, uint32_t address, const char *reason) {
  platform_fault(hart->platform, FAULT_ENVIRONMENT, hart, address, "semihosting operation 0x%x %s",
                 (unsigned)hart->x[A0], reason);
  return ACCESS_STOP;
}

static int put(struct hart *hart, uint32_t address, int is_text) {
  struct platform *platform = hart->platform;
  for (const uint8_t *at; (at = memory_at(platform, address, 1, 0)) != NULL; address++) {
    if (is_text && *at == 0) return ACCESS_OK;
    output_character(&platform->output, 0, 0, (char)*at);
    if (output_is_full(&platform->output)) return refuse(hart, address, "has printed more than 64 MiB");
    if (!is_text) return ACCESS_OK;
  }
  return refuse(hart, address, "is given text at an address where no memory is");
}

static int end(struct hart *hart, uint32_t reason, uint32_t code) {
  struct platform *platform = hart->platform;
  platform_exit(platform, reason == APPLICATION_EXIT ? code : 1, hart->now);
  update_device_cycle(platform);
  return ACCESS_STOP;
}

int semihosting_call(struct hart *hart) {
  const uint32_t argument = hart->x[A1];
  uint32_t block[2];
  switch (hart->x[A0]) {
    case SYS_WRITEC: return put(hart, argument, 0);
    case SYS_WRITE0: return put(hart, argument, 1);
    case SYS_EXIT: return end(hart, argument, 0);
    case SYS_EXIT_EXTENDED:
      if (!word_at(hart, argument, &block[0]) || !word_at(hart, argument + 4, &block[1]))
        return refuse(hart, argument, "is given an argument at an address where no memory is");
      return end(hart, block[0], block[1]);
    default: return refuse(hart, 0, "is not simulated: use those that print (3, 4) and exit (0x18, 0x20)");
  }
}
