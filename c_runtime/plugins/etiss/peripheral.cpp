// SPDX-License-Identifier: Apache-2.0
//
// Any accelerator model behind tvm_pulp/peripheral.h as an ETISS plug-in: a memory-mapped peripheral whose registers are
// read and written by the guest, and which reads and writes the guest's memory. Built once per engine, with
// ETISS_LIBNAME as the name of the library and of the plug-in; what it is told stands in [Plugin NAME] of an ini file.
//
// Time: one instruction takes one cycle there. A job of the model runs beside the core, which polls; with `blocking` the
// core stands still until it ends.
#include "etiss/helper/CPUArchLibrary.h"
#include "etiss/helper/JITLibrary.h"
#include "etiss/helper/PluginLibrary.h"

#include "etiss/IntegratedLibrary/MemMappedPeriph.h"
#include "etiss/LibraryInterface.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "hosted_model.hpp"

#define TVM_PULP_TEXT_OF(x) #x
#define TVM_PULP_TEXT(x) TVM_PULP_TEXT_OF(x)
#define TVM_PULP_NAME TVM_PULP_TEXT(ETISS_LIBNAME)

namespace {

using Options = std::map<std::string, std::string>;

// The plug-in's own keys: plugin.NAME.KEY.
std::string option(const Options &options, const char *key, const char *otherwise) {
  const auto found = options.find(std::string("plugin." TVM_PULP_NAME ".") + key);
  return found == options.end() ? otherwise : found->second;
}

uint32_t number(const Options &options, const char *key, const char *otherwise) {
  return static_cast<uint32_t>(std::stoull(option(options, key, otherwise), nullptr, 0));
}

class Peripheral : public etiss::plugin::MemMappedPeriph, public etiss::CoroutinePlugin, private tvm_pulp::Guest {
 public:
  explicit Peripheral(const Options &options)
      : base_(number(options, "base", "0x70000000")), l1_base_(number(options, "l1_base", "0")),
        weight_base_(number(options, "weight_base", "0")), blocking_(option(options, "blocking", "false") == "true") {
    tvm_pulp::Settings settings;
    settings.library = option(options, "library", "");
    settings.parameters = option(options, "parameters", "");
    settings.l1 = {l1_base_, number(options, "l1_size", "0"), number(options, "l1_mask", "0"), 0u};
    settings.weight = {0u, number(options, "weight_size", "0"), 0u, 0u};
    try {
      model_.reset(new tvm_pulp::HostedModel(*this, settings));
      model_->reset();
    } catch (const std::exception &error) {
      fault(error.what());
    }
  }

  etiss::plugin::MappedMemory getMappedMem() const override {
    etiss::plugin::MappedMemory range;
    range.base = base_;
    range.size = model_->register_bytes();
    return range;
  }

  etiss_uint32 read32(etiss_uint64 address) override { return model_->read(offset(address), 0, now()); }

  void write32(etiss_uint64 address, etiss_uint32 value) override {
    model_->write(offset(address), value, 0, now());
    if (blocking_) wait();
  }

  etiss_uint8 read8(etiss_uint64 address) override { return static_cast<etiss_uint8>(refuse(address, 8)); }
  etiss_uint16 read16(etiss_uint64 address) override { return static_cast<etiss_uint16>(refuse(address, 16)); }
  etiss_uint64 read64(etiss_uint64 address) override { return refuse(address, 64); }
  void write8(etiss_uint64 address, etiss_uint8) override { refuse(address, 8); }
  void write16(etiss_uint64 address, etiss_uint16) override { refuse(address, 16); }
  void write64(etiss_uint64 address, etiss_uint64) override { refuse(address, 64); }

  // Before every block of the guest: a job that has ended by now has its results in memory.
  etiss::int32 execute() override {
    if (model_->next_event() <= now()) model_->advance(now());
    return 0;
  }

  void executionEnd(int32_t) override { std::cout << "tvm_pulp " << model_->statistics_text() << std::endl; }

 protected:
  std::string _getPluginName() const override { return TVM_PULP_NAME; }

 private:
  uint32_t offset(etiss_uint64 address) const { return static_cast<uint32_t>(address - base_); }
  uint64_t now() const { return plugin_cpu_->cpuTime_ps / plugin_cpu_->cpuCycleTime_ps; }

  // The core's clock goes on to the end of all that runs.
  void wait() {
    for (uint64_t end = model_->next_event(); end != TVM_PULP_NEVER; end = model_->next_event()) {
      if (end > now()) plugin_cpu_->cpuTime_ps += (end - now()) * plugin_cpu_->cpuCycleTime_ps;
      model_->advance(now());
    }
  }

  etiss_uint64 refuse(etiss_uint64 address, unsigned bits) {
    fault(std::string(model_->name()) + ": register 0x" + hexadecimal(offset(address)) + " is 32 bits wide, not " +
          std::to_string(bits));
    return 0;
  }

  static std::string hexadecimal(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "%x", value);
    return text;
  }

  uint32_t address(tvm_pulp_port port, uint32_t offset) const {
    return (port == TVM_PULP_PORT_L1 ? l1_base_ : weight_base_) + offset;
  }

  bool read_word(tvm_pulp_port port, uint32_t offset, uint32_t *word) override {
    ETISS_System *system = plugin_system_;
    return system->dread(system->handle, plugin_cpu_, address(port, offset), reinterpret_cast<etiss_uint8 *>(word), 4) ==
           0;
  }

  bool write_word(tvm_pulp_port port, uint32_t offset, uint32_t word) override {
    ETISS_System *system = plugin_system_;
    return system->dwrite(system->handle, plugin_cpu_, address(port, offset), reinterpret_cast<etiss_uint8 *>(&word),
                          4) == 0;
  }

  // There are no banks, and no interrupt: the guest looks at a status.
  uint64_t take_bank(uint32_t) override { return 0; }
  void raise(uint64_t) override {}

  // The guest asked for what the hardware does not do, or the installation is wrong: nothing sensible can follow.
  void fault(const std::string &reason) override {
    std::cout << std::flush;
    std::cerr << "tvm_pulp: " << reason << std::endl;
    std::_Exit(1);
  }

  uint32_t base_, l1_base_, weight_base_;
  bool blocking_;
  std::unique_ptr<tvm_pulp::HostedModel> model_;
};

} // namespace

#define TVM_PULP_FUNCTION(suffix) etiss_helper_merge(ETISS_LIBNAME, suffix)

extern "C" {
ETISS_LIBRARYIF_VERSION_FUNC_IMPL

unsigned TVM_PULP_FUNCTION(_countPlugin)() { return 1; }
const char *TVM_PULP_FUNCTION(_namePlugin)(unsigned index) { return index == 0 ? TVM_PULP_NAME : nullptr; }
etiss::Plugin *TVM_PULP_FUNCTION(_createPlugin)(unsigned index, Options options) {
  return index == 0 ? new Peripheral(options) : nullptr;
}
void TVM_PULP_FUNCTION(_deletePlugin)(etiss::Plugin *plugin) { delete plugin; }

unsigned TVM_PULP_FUNCTION(_countCPUArch)() { return 0; }
const char *TVM_PULP_FUNCTION(_nameCPUArch)(unsigned) { return nullptr; }
etiss::CPUArch *TVM_PULP_FUNCTION(_createCPUArch)(unsigned, Options) { return nullptr; }
void TVM_PULP_FUNCTION(_deleteCPUArch)(etiss::CPUArch *) {}

unsigned TVM_PULP_FUNCTION(_countJIT)() { return 0; }
const char *TVM_PULP_FUNCTION(_nameJIT)(unsigned) { return nullptr; }
etiss::JIT *TVM_PULP_FUNCTION(_createJIT)(unsigned, Options) { return nullptr; }
void TVM_PULP_FUNCTION(_deleteJIT)(etiss::JIT *) {}
}
