/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "platform.h"

enum { RA = 1, ALTERNATE_LINK = 5 };

static int is_link(uint32_t number) { return number == RA || number == ALTERNATE_LINK; }

static uint32_t function_at(const struct calls *calls, uint32_t pc) {
  uint32_t low = 0, high = calls->function_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (calls->starts[middle] <= pc) low = middle + 1;
    else high = middle;
  }
  return low ? low - 1 : NO_FUNCTION;
}

/* The node of a function below a parent; the parent itself when there is no room for another. */
static uint32_t node_of(struct calls *calls, uint32_t parent, uint32_t function) {
  struct call_node *nodes = calls->nodes;
  uint32_t node = nodes[parent].child;
  while (node && nodes[node].function != function) node = nodes[node].sibling;
  if (node || calls->node_count == CALL_NODES) return node ? node : parent;
  node = calls->node_count++;
  nodes[node].parent = parent;
  nodes[node].function = function;
  nodes[node].sibling = nodes[parent].child;
  nodes[parent].child = node;
  return node;
}

void calls_settle(struct hart *hart, uint64_t now) {
  struct calls *calls = &hart->platform->calls;
  struct call_stack *stack = &calls->harts[hart->index];
  struct call_node *node = &calls->nodes[stack->depth ? stack->frame[stack->depth - 1].node : hart->index];
  uint64_t causes[CAUSES];
  hart_causes(hart, now, causes);
  for (uint32_t i = 0; i < CAUSES; i++) node->cycles[i] += causes[i] - stack->seen[i];
  memcpy(stack->seen, causes, sizeof causes);
}

static void tell(struct hart *hart, enum trace_kind kind, uint32_t function, uint32_t depth, uint64_t now) {
  struct platform *platform = hart->platform;
  if (platform->calls.logged)
    trace_event(&platform->trace, kind, hart->index, cluster_cycle(hart, now), (uint64_t)depth << 32 | function);
}

static void push(struct hart *hart, uint32_t function, uint32_t back, uint64_t now) {
  struct calls *calls = &hart->platform->calls;
  struct call_stack *stack = &calls->harts[hart->index];
  struct call_frame *frame;
  if (stack->depth == CALL_DEPTH) { /* forget the oldest but one: what returns to it is found no more */
    memmove(stack->frame + 1, stack->frame + 2, (CALL_DEPTH - 2) * sizeof stack->frame[0]);
    stack->depth--;
  }
  frame = &stack->frame[stack->depth];
  frame->node = node_of(calls, stack->depth ? frame[-1].node : hart->index, function);
  frame->return_address = back;
  frame->entered = now;
  tell(hart, TRACE_ENTER, function, stack->depth++, now);
}

static void pop(struct hart *hart, uint64_t now) {
  struct calls *calls = &hart->platform->calls;
  struct call_stack *stack = &calls->harts[hart->index];
  struct call_frame *frame = &stack->frame[--stack->depth];
  uint32_t function = calls->nodes[frame->node].function;
  tell(hart, TRACE_LEAVE, function, stack->depth, now);
  if (!stack->depth || calls->nodes[frame[-1].node].function != calls->tile_caller) return;
  trace_stream(&hart->platform->trace, TRACE_TILE, hart->index, cluster_cycle(hart, frame->entered),
               cluster_cycle(hart, now), function);
}

void calls_start(struct hart *hart, uint32_t pc) {
  struct calls *calls = &hart->platform->calls;
  if (!calls->harts) return;
  push(hart, function_at(calls, pc), 0, hart->now);
}

void calls_jump(struct hart *hart, const struct slot *target, uint32_t link, uint32_t source, uint32_t back,
                uint64_t now) {
  struct calls *calls = &hart->platform->calls;
  struct call_stack *stack = &calls->harts[hart->index];
  uint32_t pc = hart->pc_base + (uint32_t)((target - hart->slots) * 2), function, depth = stack->depth;
  if (is_link(link)) {
    calls_settle(hart, now);
    push(hart, function_at(calls, pc), back, now);
    return;
  }
  if (is_link(source)) { /* a return to the innermost caller that expects it */
    while (depth && stack->frame[depth - 1].return_address != pc) depth--;
    if (depth) calls_settle(hart, now);
    while (depth && stack->depth >= depth) pop(hart, now);
    if (depth) return;
  }
  function = function_at(calls, pc);
  if (stack->depth && calls->nodes[stack->frame[stack->depth - 1].node].function == function) return;
  calls_settle(hart, now); /* a jump to another function replaces its caller */
  back = stack->depth ? stack->frame[stack->depth - 1].return_address : 0;
  if (stack->depth) pop(hart, now);
  push(hart, function, back, now);
}

void calls_destroy(struct calls *calls) {
  free(calls->harts);
  free(calls->nodes);
  free(calls->starts);
}

int iss_follow_calls(struct platform *platform, const uint32_t *starts, uint32_t count, uint32_t tile_caller, int logged) {
  struct calls *calls = &platform->calls;
  if (!platform->config.observe || calls->harts) return -1;
  calls->starts = malloc((count + 1) * sizeof *starts);
  calls->nodes = calloc(CALL_NODES, sizeof *calls->nodes);
  calls->harts = calloc(platform->hart_count, sizeof *calls->harts);
  if (!calls->starts || !calls->nodes || !calls->harts) return -1;
  memcpy(calls->starts, starts, count * sizeof *starts);
  calls->function_count = count;
  calls->tile_caller = tile_caller;
  calls->logged = logged;
  calls->node_count = platform->hart_count;
  for (uint32_t i = 0; i < calls->node_count; i++) calls->nodes[i].function = NO_FUNCTION;
  return 0;
}

uint32_t iss_call_nodes(const struct platform *platform, const struct call_node **nodes) {
  *nodes = platform->calls.nodes;
  return platform->calls.node_count;
}

const char *iss_cause_name(uint32_t number) {
  static const char *const names[] = {
#define CAUSE(name) #name,
      CAUSES_OF_CYCLES(CAUSE)
#undef CAUSE
          NULL};
  return names[number];
}
