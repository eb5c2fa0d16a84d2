/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in of QEMU that counts instructions by the layer that the program says it computes. QEMU calls it for every
 * block of instructions that it translates, and before a translated one runs.
 *
 *   -plugin count_blocks.so,memory=FILE,layer=OFFSET,counts=FILE,layers=NUMBER
 *
 * `memory` holds the machine's memory, `layer` is the place of the program's variable there; `counts` takes numbers of
 * 64 bits, those outside of the network first. The interface is that of QEMU's own header, as far as it is used. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct qemu_plugin_tb;
struct qemu_plugin_info;
typedef void (*on_block)(unsigned int core, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_block call, int registers, void *data);

/* The oldest interface that the calls above are part of. */
__attribute__((visibility("default"))) int qemu_plugin_version = PLUGIN_VERSION;

static const volatile uint32_t *layer_now;
static uint64_t *counts;
static uint32_t layers, previous;

static void executed(unsigned int core, void *data) {
  (void)core;
  const uint32_t layer = *layer_now;
  if (layer >= layers) return;
  if (previous == 0u && layer != 0u) {
    /* An inference begins: only the last one is told. */
    for (uint32_t i = 1; i < layers; i++) counts[i] = 0;
  }
  previous = layer;
  counts[layer] += (uintptr_t)data;
}

static void translated(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static uint8_t *mapped(const char *path) {
  struct stat found;
  const int file = open(path, O_RDWR);
  if (file < 0 || fstat(file, &found) != 0) return 0;
  uint8_t *data = mmap(0, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return data == MAP_FAILED ? 0 : data;
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int count,
                                                              char **given);

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int count,
                                                              char **given) {
  (void)info;
  const uint8_t *memory = 0;
  uint64_t offset = 0;
  for (int i = 0; i < count; i++) {
    const char *value = strchr(given[i], '=');
    if (value == 0) return 1;
    if (strncmp(given[i], "memory=", 7) == 0) memory = mapped(value + 1);
    if (strncmp(given[i], "layer=", 6) == 0) offset = strtoull(value + 1, 0, 0);
    if (strncmp(given[i], "counts=", 7) == 0) counts = (uint64_t *)(void *)mapped(value + 1);
    if (strncmp(given[i], "layers=", 7) == 0) layers = (uint32_t)strtoull(value + 1, 0, 0);
  }
  if (memory == 0 || counts == 0) return 1;
  layer_now = (const volatile uint32_t *)(const volatile void *)(memory + offset);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
