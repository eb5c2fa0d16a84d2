/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for an SDK's runtime on the registers of the simulated cluster: it boots, runs main as often as the host
 * asks for inferences, and forks teams. */
#include "bsp/ram.h"
#include "pmsis.h"
#include "start.h"

int main(void);

volatile uint32_t tvm_pulp_inferences = 2, tvm_pulp_cluster_result;
volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES], tvm_pulp_layer_cycles[TVM_PULP_MARKS];
/* What networks in L3 count from. */
struct pi_device ram, *tvm_pulp_board_ram = &ram;
uint32_t tvm_pulp_board_ram_base;

static struct pi_cluster_task *volatile waiting_task;
static struct {
  void (*entry)(void *);
  void *arg;
} team;

void tvm_pulp_controller_main(void) {
  TVM_PULP_REGISTER(SIRACUSA_IO_CLOCK_ENABLE) = SIRACUSA_HYPERBUS_CLOCK;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS_CHIP_SELECT) = 0;
  int status = 0;
  for (uint32_t i = 0; i < tvm_pulp_inferences; i++) {
    tvm_pulp_cycles[i] = 1;
    status |= main();
  }
  TVM_PULP_REGISTER(SIRACUSA_CORE_STATUS) = 1u << 31 | (uint32_t)status;
  for (;;) {
  }
}

void pi_cluster_conf_init(struct pi_cluster_conf *conf) { conf->id = 7; }
void pi_open_from_conf(struct pi_device *device, void *conf) { device->config = conf; }

int pi_cluster_open(struct pi_device *device) {
  if (((struct pi_cluster_conf *)device->config)->id != 0) return -1;
  for (uint32_t core = 0; core < TVM_PULP_CORES; core++) {
    TVM_PULP_REGISTER(SIRACUSA_BOOT_ADDRESS + 4u * core) = (uint32_t)(uintptr_t)_start;
  }
  TVM_PULP_REGISTER(SIRACUSA_FETCH_ENABLE) = (1u << TVM_PULP_CORES) - 1u;
  return 0;
}

int pi_cluster_close(struct pi_device *device) {
  (void)device;
  return 0;
}

struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg) {
  *task = (struct pi_cluster_task){entry, arg, 0, 0};
  return task;
}

int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task) {
  (void)device;
  waiting_task = task;
  while (waiting_task != 0) {
  }
  return 0;
}

/* Core 0 takes tasks; the others wait for a fork. */
void tvm_pulp_cluster_main(uint32_t core) {
  const uint32_t everybody = (1u << TVM_PULP_CORES) - 1u;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TRIGGER_MASK) = everybody;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TARGET_MASK) = everybody;
  tvm_pulp_event_mask(1u << SIRACUSA_LINE_BARRIER);
  for (;;) {
    if (core == 0u) {
      while (waiting_task == 0) {
      }
      waiting_task->entry(waiting_task->arg);
      waiting_task = 0;
    } else {
      tvm_pulp_barrier();
      team.entry(team.arg);
      tvm_pulp_barrier();
    }
  }
}

void pi_cl_team_fork(int cores, void (*entry)(void *), void *arg) {
  if (cores != TVM_PULP_CORES) return;
  team.entry = entry;
  team.arg = arg;
  tvm_pulp_barrier();
  entry(arg);
  tvm_pulp_barrier();
}

uint32_t pi_core_id(void) { return tvm_pulp_core_id(); }
void pi_cl_team_barrier(int id) {
  (void)id;
  tvm_pulp_barrier();
}

unsigned int eu_evt_maskWaitAndClr(unsigned int mask) {
  tvm_pulp_event_mask(mask);
  TVM_PULP_EVENT_LOAD(SIRACUSA_EVENT_WAIT_CLEAR);
  tvm_pulp_event_mask(1u << SIRACUSA_LINE_BARRIER);
  return mask;
}

/* As SDKs do: a counter of the DMA for each transfer. */
void pi_cl_dma_cmd(uint32_t ext, uint32_t loc, uint32_t size, pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd) {
  cmd->id = tvm_pulp_dma_begin();
  tvm_pulp_dma_1d(dir == PI_CL_DMA_DIR_EXT2LOC ? TVM_PULP_DMA_TO_L1 : 0, loc, ext, size);
}

void pi_cl_dma_cmd_2d(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir,
                      pi_cl_dma_cmd_t *cmd) {
  cmd->id = tvm_pulp_dma_begin();
  tvm_pulp_dma_2d(dir == PI_CL_DMA_DIR_EXT2LOC ? TVM_PULP_DMA_TO_L1 : 0, loc, ext, size, length, stride);
}

void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *cmd) { tvm_pulp_dma_wait(cmd->id); }

void pi_cl_ram_read(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req) {
  req->is_started = device == &ram;
  tvm_pulp_l3_load(addr, pi_ram_addr, size);
}

void pi_cl_ram_write(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req) {
  req->is_started = device == &ram;
  tvm_pulp_l3_store(pi_ram_addr, addr, size);
}

void pi_cl_ram_read_wait(pi_cl_ram_req_t *req) {
  if (req->is_started) tvm_pulp_l3_wait();
}

void pi_cl_ram_write_wait(pi_cl_ram_req_t *req) { pi_cl_ram_read_wait(req); }
