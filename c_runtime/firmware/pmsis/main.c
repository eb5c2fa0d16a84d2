/* SPDX-License-Identifier: Apache-2.0
 *
 * An application of the SDK: the controller opens the cluster, whose cores run the network together. Buffers of inputs
 * and outputs are in the archive's *_program.c; fill and read them here. */
#include "tvm_pulp/hal.h"

void tvm_pulp_firmware_init(void);

static void run_network(void *unused) {
  (void)unused;
  tvm_pulp_network();
}

static void enter_cluster(void *unused) {
  (void)unused;
  tvm_pulp_firmware_init();
#ifdef TVM_PULP_CHECKS_CONSTANTS
  if (tvm_pulp_check_constants() != 0) {
    tvm_pulp_refused = 1;
    return;
  }
#endif
  pi_cl_team_fork(TVM_PULP_CORES, run_network, 0);
}

int main(void) {
  struct pi_device cluster;
  struct pi_cluster_conf configuration;
  struct pi_cluster_task task;
  pi_cluster_conf_init(&configuration);
  configuration.id = 0;
  pi_open_from_conf(&cluster, &configuration);
  if (pi_cluster_open(&cluster) != 0) return 1;
  pi_cluster_task(&task, enter_cluster, 0);
  task.slave_stack_size = TVM_PULP_STACK_BYTES;
  pi_cluster_send_task_to_cl(&cluster, &task);
  pi_cluster_close(&cluster);
  return tvm_pulp_refused != 0u;
}
