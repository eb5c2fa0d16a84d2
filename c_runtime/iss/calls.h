/* SPDX-License-Identifier: Apache-2.0
 *
 * Who called whom: the call stack of every hart, and the tree of all stacks with the cycles spent in each, by cause.
 * Follows jumps of execute_observed(). */
#ifndef ISS_CALLS_H
#define ISS_CALLS_H

#include <stdint.h>

#include "trace.h"

struct hart;
struct platform;
struct slot;

enum { CALL_DEPTH = 256, CALL_NODES = 1 << 16, NO_FUNCTION = 0xffffffff };

/* One stack: a function below a parent. Node n of the harts is the root of hart n. */
struct call_node {
  uint32_t parent, function;
  uint32_t child, sibling; /* 0: none; no root is a child */
  uint64_t cycles[CAUSES];
};

struct call_frame {
  uint32_t node, return_address;
  uint64_t entered;
};

struct call_stack {
  struct call_frame frame[CALL_DEPTH];
  uint32_t depth;
  uint64_t seen[CAUSES]; /* what has been charged to a node */
};

struct calls {
  struct call_stack *harts; /* NULL: not followed */
  struct call_node *nodes;
  uint32_t node_count;
  uint32_t *starts; /* of functions, in ascending order */
  uint32_t function_count;
  uint32_t tile_caller; /* the function whose callees are tiles, or NO_FUNCTION */
  int logged;
};

void calls_destroy(struct calls *calls);
void calls_start(struct hart *hart, uint32_t pc);
/* A jump that writes register `link` with `back` and takes its target from register `source`, 0: from the instruction. */
void calls_jump(struct hart *hart, const struct slot *target, uint32_t link, uint32_t source, uint32_t back,
                uint64_t now);
void calls_settle(struct hart *hart, uint64_t now); /* charge what is not charged yet */

#endif /* ISS_CALLS_H */
