/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of the PMSIS that a network needs, under names of ours. This is the one file to look through with an SDK at
 * hand: names and parameters are those of the public PMSIS; where the SDK of your chip spells one differently, change
 * it here. Addresses and event lines of engines come from the SoC's description as definitions of the compiler; the
 * word of an engine's clock and priority is SIRACUSA_CLUSTER_CONFIGURATION, which may be defined here first. */
#ifndef TVM_PULP_BOARD_H
#define TVM_PULP_BOARD_H

#include <stdint.h>

#include "pmsis.h"

/* Data in L1, code behind all other code. */
#define TVM_PULP_IN_L1 PI_L1
#define TVM_PULP_DRIVER_IN_L1 PI_L1
#define TVM_PULP_LATER

/* Event unit and team. */
static inline uint32_t board_core_id(void) { return (uint32_t)pi_core_id(); }
static inline void board_barrier(void) { pi_cl_team_barrier(0); }
/* Sleep until one of these events is pending, and clear it. */
static inline void board_wait_for_events(uint32_t mask) { eu_evt_maskWaitAndClr(mask); }

/* Cluster DMA. */
typedef pi_cl_dma_cmd_t board_transfer;

static inline pi_cl_dma_dir_e board_direction(int to_l1) {
  return to_l1 ? PI_CL_DMA_DIR_EXT2LOC : PI_CL_DMA_DIR_LOC2EXT;
}

static inline void board_copy(uint32_t external, uint32_t l1, uint32_t bytes, int to_l1, board_transfer *transfer) {
  pi_cl_dma_cmd(external, l1, bytes, board_direction(to_l1), transfer);
}

static inline void board_copy_lines(uint32_t external, uint32_t l1, uint32_t bytes, uint32_t stride, uint32_t length,
                                    int to_l1, board_transfer *transfer) {
  pi_cl_dma_cmd_2d(external, l1, bytes, stride, length, board_direction(to_l1), transfer);
}

static inline void board_wait_for_copy(board_transfer *transfer) { pi_cl_dma_cmd_wait(transfer); }

#ifdef TVM_PULP_BOARD_HAS_L3
/* L3, for networks that use it (parameters/l3.bin): your program opens the RAM, copies the file into it, and says here
 * where. */
#include "bsp/ram.h"

extern struct pi_device *tvm_pulp_board_ram;
extern uint32_t tvm_pulp_board_ram_base;

typedef pi_cl_ram_req_t board_request;

static inline void board_read_ram(uint32_t offset, void *l2, uint32_t bytes, board_request *request) {
  pi_cl_ram_read(tvm_pulp_board_ram, tvm_pulp_board_ram_base + offset, l2, bytes, request);
}

static inline void board_write_ram(uint32_t offset, const void *l2, uint32_t bytes, board_request *request) {
  pi_cl_ram_write(tvm_pulp_board_ram, tvm_pulp_board_ram_base + offset, (void *)(uintptr_t)l2, bytes, request);
}

static inline void board_wait_for_read(board_request *request) { pi_cl_ram_read_wait(request); }
static inline void board_wait_for_write(board_request *request) { pi_cl_ram_write_wait(request); }
#endif

#endif /* TVM_PULP_BOARD_H */
