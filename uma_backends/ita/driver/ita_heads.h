/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of ITAs that run whole heads of attention, up to four at once. Freestanding C11, no C library.
 *
 * The cores put the operands of a round's first head together, since q and k, which all engines read there, stand between
 * its weights; operands of the other heads lie in L2 as the compiler made them.
 *
 * One core uses the driver; others synchronise with that core.
 *
 *   ita_heads_init();
 *   ita_heads_assemble(&operands, core, cores);      all cores, and a barrier
 *   ita_heads_wait(ita_heads_submit(&round)); */
#ifndef ITA_HEADS_DRIVER_H
#define ITA_HEADS_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A round: a head for each of the first `count` engines. Addresses are those of the cores. */
struct ita_heads_command {
  uint32_t count, s, e, p;
  uint32_t first;          /* operands of the first head, and q and k */
  uint32_t others, stride; /* those of the second, and bytes to those of the next */
  uint32_t out;            /* [count][s][e] */
  uint32_t tables[3];      /* where the next three members are, as the engines look for them */
  uint32_t multipliers[2], shifts[2];
  uint32_t adds[6];
};

/* Operands of a head from its weights and the rows of q and k, which are split into blocks of 16 columns. Everything is a
 * multiple of 16 bytes. */
struct ita_heads_operands {
  const void *before, *after; /* weights before q and behind k */
  uint32_t before_bytes, after_bytes;
  const void *q, *k; /* [rows][columns] */
  uint32_t rows, columns;
  void *operands;
};

typedef uint32_t ita_heads_ticket;

void ita_heads_init(void);
/* All cores together; a share each. */
void ita_heads_assemble(const struct ita_heads_operands *args, uint32_t core, uint32_t cores);
/* Start a round; waits for the one before. */
ita_heads_ticket ita_heads_submit(const struct ita_heads_command *command);
void ita_heads_wait(ita_heads_ticket ticket);
void ita_heads_wait_all(void);

#ifdef __cplusplus
}
#endif
#endif /* ITA_HEADS_DRIVER_H */
