/* SPDX-License-Identifier: Apache-2.0
 *
 * What the network asks of the machine, by calls of the SDK (tvm_pulp/board.h). */
#include "tvm_pulp/executor.h"

/* Transfers of a core under way; a further one waits for the oldest. Each takes one of the DMA's sixteen counters,
 * which four cores must never hold all of: whoever asks for one more stands still. */
enum { TRANSFERS = 3 };

/* Transfers are waited for in the order in which they started, so a group is the number of its last one. */
struct port {
  board_transfer transfers[TRANSFERS];
  uint32_t started, waited;
  uint32_t newest, taken, last[TVM_PULP_GROUPS];
};

/* Of the cores that issue transfers. Undefined at start: tvm_pulp_firmware_init. */
TVM_PULP_IN_L1 static struct port ports[TVM_PULP_AGENTS];

/* The network's part of L1. */
TVM_PULP_IN_L1 uint8_t tvm_pulp_l1_arena[TVM_PULP_ARENA_BYTES] __attribute__((aligned(64)));
#define DEFINE_SIZE(bytes) DEFINE_SIZE_(bytes)
#define DEFINE_SIZE_(bytes) __asm__(".globl tvm_pulp_l1_arena_bytes\n.set tvm_pulp_l1_arena_bytes, " #bytes)
DEFINE_SIZE(TVM_PULP_ARENA_BYTES);

volatile uint32_t tvm_pulp_refused;

void tvm_pulp_firmware_init(void) {
  for (uint32_t core = 0; core < TVM_PULP_AGENTS; core++) ports[core].started = ports[core].waited = ports[core].taken = 0;
}

uint32_t tvm_pulp_dma_begin(void) {
  struct port *port = &ports[tvm_pulp_core_id()];
  uint32_t group = 0;
  /* The executor has fewer groups under way than there are. */
  while ((port->taken >> group & 1u) != 0u) group++;
  port->taken |= 1u << group;
  port->newest = group;
  port->last[group] = port->started;
  return group;
}

static void wait_for_oldest(struct port *port) { board_wait_for_copy(&port->transfers[port->waited++ % TRANSFERS]); }

void tvm_pulp_dma_command(uint32_t head, uint32_t l1, uint32_t external, uint32_t in_lines, const uint32_t *lines) {
  struct port *port = &ports[tvm_pulp_core_id()];
  const uint32_t bytes = head & (TVM_PULP_DMA_TO_L1 - 1u);
  const int to_l1 = (head & TVM_PULP_DMA_TO_L1) != 0u;
  if (port->started - port->waited == TRANSFERS) wait_for_oldest(port);
  board_transfer *transfer = &port->transfers[port->started++ % TRANSFERS];
  port->last[port->newest] = port->started;
  __asm__ volatile("" ::: "memory");
  if (in_lines != 0u) {
    board_copy_lines(external, l1, bytes, lines[1], lines[0], to_l1, transfer);
  } else {
    board_copy(external, l1, bytes, to_l1, transfer);
  }
}

void tvm_pulp_dma_wait(uint32_t id) {
  struct port *port = &ports[tvm_pulp_core_id()];
  while ((int32_t)(port->last[id] - port->waited) > 0) wait_for_oldest(port);
  port->taken &= ~(1u << id);
  __asm__ volatile("" ::: "memory");
}

/* L3: one request after the other, waited for when the next one starts. */
#ifdef TVM_PULP_BOARD_HAS_L3
static board_request request;
static enum { NOTHING, A_READ, A_WRITE } under_way;

void tvm_pulp_l3_wait(void) {
  if (under_way == A_READ) board_wait_for_read(&request);
  if (under_way == A_WRITE) board_wait_for_write(&request);
  under_way = NOTHING;
  __asm__ volatile("" ::: "memory");
}

void tvm_pulp_l3_load(void *l2, uint32_t l3_offset, uint32_t bytes) {
  tvm_pulp_l3_wait();
  board_read_ram(l3_offset, l2, bytes, &request);
  under_way = A_READ;
}

void tvm_pulp_l3_store(uint32_t l3_offset, const void *l2, uint32_t bytes) {
  tvm_pulp_l3_wait();
  board_write_ram(l3_offset, l2, bytes, &request);
  under_way = A_WRITE;
}
#else
/* The executor calls these two for records that this network does not have. */
void tvm_pulp_l3_wait(void) {}

void tvm_pulp_l3_load(void *l2, uint32_t l3_offset, uint32_t bytes) {
  (void)l2;
  (void)l3_offset;
  (void)bytes;
  tvm_pulp_refused = 1;
}
#endif
