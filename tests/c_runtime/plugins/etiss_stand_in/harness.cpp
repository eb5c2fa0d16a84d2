// A core's view of the plug-in, called from Python: registers by width, a flat memory, time.
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "etiss/stand_in.h"

using Options = std::map<std::string, std::string>;

extern "C" {
unsigned tvm_pulp_adder_countPlugin();
const char *tvm_pulp_adder_namePlugin(unsigned index);
etiss::Plugin *tvm_pulp_adder_createPlugin(unsigned index, Options options);
void tvm_pulp_adder_deletePlugin(etiss::Plugin *plugin);
const char *tvm_pulp_adder_etissversion();
}

namespace {
Options options;
etiss::Plugin *made;
ETISS_CPU cpu;
ETISS_System guest;
// Flat memory from here on.
const uint64_t BASE = 0x02000000;
std::vector<uint8_t> memory(1u << 20);

bool outside(uint64_t address, uint32_t bytes) { return address < BASE || address + bytes > BASE + memory.size(); }

int32_t dread(void *, ETISS_CPU *, etiss_uint64 address, etiss_uint8 *to, etiss_uint32 bytes) {
  if (outside(address, bytes)) return 1;
  std::memcpy(to, memory.data() + (address - BASE), bytes);
  return 0;
}

int32_t dwrite(void *, ETISS_CPU *, etiss_uint64 address, etiss_uint8 *from, etiss_uint32 bytes) {
  if (outside(address, bytes)) return 1;
  std::memcpy(memory.data() + (address - BASE), from, bytes);
  return 0;
}

etiss::plugin::MemMappedPeriph *periph() { return dynamic_cast<etiss::plugin::MemMappedPeriph *>(made); }
} // namespace

extern "C" {
void harness_option(const char *name, const char *value) { options[std::string("plugin.tvm_pulp_adder.") + name] = value; }

int harness_start(void) {
  guest.dread = dread;
  guest.dwrite = dwrite;
  made = tvm_pulp_adder_createPlugin(0, options);
  made->plugin_cpu_ = &cpu;
  made->plugin_system_ = &guest;
  return static_cast<int>(tvm_pulp_adder_countPlugin());
}

uint64_t harness_base(void) { return periph()->getMappedMem().base; }
uint64_t harness_size(void) { return periph()->getMappedMem().size; }
uint8_t *harness_memory(void) { return memory.data(); }

uint64_t harness_read(uint64_t address, int bits) {
  switch (bits) {
    case 8: return periph()->read8(address);
    case 16: return periph()->read16(address);
    case 32: return periph()->read32(address);
    default: return periph()->read64(address);
  }
}

void harness_write(uint64_t address, uint32_t value, int bits) {
  switch (bits) {
    case 8: periph()->write8(address, static_cast<uint8_t>(value)); break;
    case 16: periph()->write16(address, static_cast<uint16_t>(value)); break;
    case 32: periph()->write32(address, value); break;
    default: periph()->write64(address, value); break;
  }
}

void harness_instructions(uint64_t count) { cpu.cpuTime_ps += count * cpu.cpuCycleTime_ps; }
uint64_t harness_cycle(void) { return cpu.cpuTime_ps / cpu.cpuCycleTime_ps; }
int harness_block(void) { return dynamic_cast<etiss::CoroutinePlugin *>(made)->execute(); }

void harness_end(void) {
  dynamic_cast<etiss::CoroutinePlugin *>(made)->executionEnd(0);
  tvm_pulp_adder_deletePlugin(made);
}
}
