/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for an SDK's header: the calls of the public PMSIS that an archive's firmware makes, no more. */
#ifndef PMSIS_H
#define PMSIS_H

#include <stdint.h>

#define PI_L1 __attribute__((section(".bss..l1")))

struct pi_device {
  void *config;
};
struct pi_cluster_conf {
  int id;
};
struct pi_cluster_task {
  void (*entry)(void *);
  void *arg;
  uint32_t stack_size, slave_stack_size;
};

void pi_cluster_conf_init(struct pi_cluster_conf *conf);
void pi_open_from_conf(struct pi_device *device, void *conf);
int pi_cluster_open(struct pi_device *device);
int pi_cluster_close(struct pi_device *device);
struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *arg);
int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task);

uint32_t pi_core_id(void);
void pi_cl_team_fork(int cores, void (*entry)(void *), void *arg);
void pi_cl_team_barrier(int id);
unsigned int eu_evt_maskWaitAndClr(unsigned int mask);

typedef enum { PI_CL_DMA_DIR_LOC2EXT = 0, PI_CL_DMA_DIR_EXT2LOC = 1 } pi_cl_dma_dir_e;
typedef struct {
  uint32_t id;
} pi_cl_dma_cmd_t;
void pi_cl_dma_cmd(uint32_t ext, uint32_t loc, uint32_t size, pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd);
void pi_cl_dma_cmd_2d(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir,
                      pi_cl_dma_cmd_t *cmd);
void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *cmd);

#endif /* PMSIS_H */
