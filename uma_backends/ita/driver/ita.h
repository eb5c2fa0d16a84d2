/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the ITA accelerator for bare-metal programs on the cluster. Freestanding C11, no C library.
 *
 * A command is a product of tiled matrices, or the logits, softmax and values of one head of attention. The driver turns
 * it into jobs of one 64x64x64 tile each and keeps the engine's queue filled. Matrices lie in panels: columns of tiles,
 * each tile behind the one above it, so that rows of a panel are 64 bytes long and follow each other.
 *
 * One core uses the driver; others synchronise with that core. Buffers of a command may be reused only after
 * ita_wait(ticket).
 *
 *   ita_init();
 *   ita_ticket first = ita_submit(&product);
 *   ita_submit(&attention);
 *   ita_wait(first);
 *   ita_wait_all(); */
#ifndef ITA_DRIVER_H
#define ITA_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ITA_PRODUCT = 0, ITA_ATTENTION = 1 };
/* Fields of `control`: kind, layer and activation (CTRL_ENGINE), bias (0 none, 1 by column, 2 by row). */
enum { ITA_KIND_SHIFT = 0, ITA_ENGINE_SHIFT = 8, ITA_BIAS_SHIFT = 16 };

/* Addresses are offsets from the start of L1, sizes are in tiles.
 *
 * Product: `inner` pointers to panels of the left operand, as many to the right one's, `columns` to panels of the result.
 * Tiles of one panel are `left_stride` and `right_stride` bytes apart; the right operand has a tile per column.
 *
 * Attention over `rows` tiles of queries and `columns` of keys, heads of `inner` tiles: `inner` panels of queries, `inner`
 * of keys, `columns` of values, transposed (a tile per tile of the head, right_stride apart), `columns` tiles for a row of
 * logits, `inner` panels of the result. The engine counts rows: as many as there are tiles of keys make a layer, in one
 * command or in several that follow each other. */
struct ita_command {
  uint32_t control;
  uint32_t rows, columns, inner;
  uint32_t left_stride, right_stride;
  uint32_t bias;
  uint32_t tiles_before; /* the first four jobs in their sums, six bits each: two for products, logits, results */
  uint32_t sums_left; /* what TILES says to the last four, likewise (sums above 3: 0); bits 24 to 31: six per job */
  uint32_t constants[9]; /* registers TILES to ADD1, GELU_B_C, ACT_REQUANT */
  uint32_t panels[];
};

/* Counts jobs of the engine. */
typedef uint32_t ita_ticket;

void ita_init(void); /* the first time an empty queue */
/* Queue all jobs of a command and return when the last one waits; sleeps while the queue is full. */
ita_ticket ita_submit(const struct ita_command *command);
int ita_is_done(ita_ticket ticket);
void ita_wait(ita_ticket ticket);
void ita_wait_all(void);

#ifdef __cplusplus
}
#endif
#endif /* ITA_DRIVER_H */
