/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of ITAs that run whole heads of attention, up to four at once. Freestanding C11, no C library.
 *
 * All engines read q and k between the weights of a round's first head: these operands lie in L1, and the cores put q and k
 * there. Operands of the other heads lie in L2 as the compiler made them.
 *
 * One core uses the driver; others synchronise with that core.
 *
 *   ita_heads_init();
 *   ita_heads_put_positions(&positions, core, cores);      all cores, and a barrier
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

/* Rows of q and k, and where they belong as blocks of 16 columns: [columns / 16][positions][16]. */
struct ita_heads_positions {
  const void *q, *k; /* [rows][columns]; no q: it is there already */
  void *to_q, *to_k;
  uint32_t rows, columns, positions;
};

/* The first columns of the results of a round, side by side: `size` of each head, [rows][columns] together. */
struct ita_heads_columns {
  const void *heads; /* [heads][positions][pitch] */
  void *to;
  uint32_t rows, columns, size, positions, pitch;
};

typedef uint32_t ita_heads_ticket;

void ita_heads_init(void);
/* All cores together; a share each. Columns are multiples of 16. */
void ita_heads_put_positions(const struct ita_heads_positions *args, uint32_t core, uint32_t cores);
void ita_heads_take_columns(const struct ita_heads_columns *args, uint32_t core, uint32_t cores);
/* Start a round; waits for the one before. */
ita_heads_ticket ita_heads_submit(const struct ita_heads_command *command);
void ita_heads_wait(ita_heads_ticket ticket);
void ita_heads_wait_all(void);

#ifdef __cplusplus
}
#endif
#endif /* ITA_HEADS_DRIVER_H */
