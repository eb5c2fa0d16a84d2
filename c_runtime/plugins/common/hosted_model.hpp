// SPDX-License-Identifier: Apache-2.0
//
// An accelerator model behind tvm_pulp/peripheral.h inside another simulator.
//
// The model asks for host pointers into guest memory; another simulator has requests instead. So every range that the
// model asks for is copied from the guest into a window of the same size, and bytes that it changed are written back
// when its function returns. Nothing of the guest runs in between, hence nobody sees the difference.
#ifndef TVM_PULP_HOSTED_MODEL_HPP
#define TVM_PULP_HOSTED_MODEL_HPP

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tvm_pulp/peripheral.h"

namespace tvm_pulp {

// What the simulator around offers. Addresses are offsets in the memory of the port, a multiple of four.
class Guest {
 public:
  virtual ~Guest() = default;
  // Four bytes, without taking time; false where there is no memory.
  virtual bool read_word(tvm_pulp_port port, uint32_t offset, uint32_t *word) = 0;
  virtual bool write_word(tvm_pulp_port port, uint32_t offset, uint32_t word) = 0;
  // By how many cycles an access to this word of L1 comes late, when it is made now.
  virtual uint64_t take_bank(uint32_t offset) = 0;
  virtual void raise(uint64_t cycle) = 0;
  virtual void fault(const std::string &reason) = 0;
};

// Where a port's memory lies. Several addresses may mean the same byte.
struct Range {
  uint32_t base = 0;  // of the first address that the model may use
  uint32_t size = 0;  // bytes; 0: there is no such memory
  uint32_t mask = 0;  // bits of an address that count, below the aliases; 0: all of them
  uint32_t alias = 0; // a second base that means the same memory
};

struct Settings {
  std::string library;    // shared object of the model
  std::string parameters; // "pe_rows=6,pe_columns=6"
  Range l1, weight;
  bool arbitrate = false; // the model competes for L1 banks
};

class HostedModel {
 public:
  HostedModel(Guest &guest, const Settings &settings) : guest_(guest), settings_(settings) {
    windows_[TVM_PULP_PORT_L1] = Window(settings.l1);
    windows_[TVM_PULP_PORT_WEIGHT] = Window(settings.weight);
    load(settings.library);
    create(settings.parameters);
  }

  ~HostedModel() {
    if (self_ != nullptr) model_->destroy(self_);
    if (library_ != nullptr) dlclose(library_);
  }

  HostedModel(const HostedModel &) = delete;
  HostedModel &operator=(const HostedModel &) = delete;

  const char *name() const { return model_->name; }
  uint32_t register_bytes() const { return model_->register_bytes; }

  void reset() { model_->reset(self_); }

  uint32_t read(uint32_t offset, uint32_t core, uint64_t cycle) {
    const uint32_t value = model_->read(self_, offset, core, cycle);
    write_back();
    return value;
  }

  void write(uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
    model_->write(self_, offset, value, core, cycle);
    write_back();
  }

  uint64_t next_event() { return model_->next_event(self_); }

  void advance(uint64_t cycle) {
    model_->advance(self_, cycle);
    write_back();
  }

  tvm_pulp_peripheral_statistics statistics() {
    tvm_pulp_peripheral_statistics counted{};
    model_->statistics(self_, &counted);
    return counted;
  }

  // One line for the end of a simulation.
  std::string statistics_text() {
    const tvm_pulp_peripheral_statistics s = statistics();
    return std::string(name()) + ": " + std::to_string(s.jobs) + " jobs, " + std::to_string(s.busy_cycles) +
           " busy cycles, " + std::to_string(s.macs) + " macs, " + std::to_string(s.l1_bytes) + " L1 bytes, " +
           std::to_string(s.weight_bytes) + " weight bytes";
  }

 private:
  struct Change {
    uint32_t word;
    uint32_t value; // as the guest holds it
  };

  struct Window {
    Range range;
    std::unique_ptr<uint8_t, void (*)(void *)> bytes{nullptr, std::free};
    std::vector<bool> fetched;
    std::vector<Change> words;

    Window() = default;
    explicit Window(const Range &range)
        : range(range), bytes(static_cast<uint8_t *>(std::calloc(range.size + 4u, 1)), std::free),
          fetched(range.size / 4u + 1u) {}
  };

  void load(const std::string &path) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error("cannot load the model " + path + ": " + dlerror());
    using Entry = const tvm_pulp_peripheral *(*)();
    const Entry entry = reinterpret_cast<Entry>(dlsym(library_, "tvm_pulp_peripheral"));
    if (entry == nullptr) throw std::runtime_error(path + " is no model: it has no function tvm_pulp_peripheral");
    model_ = entry();
    if (model_->abi != TVM_PULP_PERIPHERAL_ABI) {
      throw std::runtime_error(path + " is of interface " + std::to_string(model_->abi) + ", this plug-in of " +
                               std::to_string(TVM_PULP_PERIPHERAL_ABI) + ": build both from one release");
    }
  }

  void create(const std::string &text) {
    std::vector<std::pair<std::string, int64_t>> parsed;
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find(',', at);
      if (end == std::string::npos) end = text.size();
      const std::string part = text.substr(at, end - at);
      const size_t equals = part.find('=');
      if (equals == std::string::npos) throw std::runtime_error("parameter '" + part + "' is not NAME=VALUE");
      parsed.emplace_back(part.substr(0, equals), std::stoll(part.substr(equals + 1), nullptr, 0));
      at = end + 1;
    }
    std::vector<tvm_pulp_parameter> parameters;
    for (const auto &entry : parsed) parameters.push_back({entry.first.c_str(), entry.second});
    const tvm_pulp_system system = {this,      memory, claim,
                                    release,   settings_.arbitrate ? take_banks : nullptr,
                                    raise,     fault};
    char error[256] = "";
    self_ = model_->create(&system, parameters.data(), parameters.size(), error, sizeof error);
    if (self_ == nullptr) throw std::runtime_error(std::string(model_->name) + ": " + error);
  }

  // The offset that an address means, or false where it lies outside.
  static bool locate(const Range &range, uint32_t address, uint32_t bytes, uint32_t *offset) {
    const uint32_t span = range.mask != 0u ? range.mask + 1u : range.size;
    uint32_t found;
    if (address - range.base < span) {
      found = address - range.base;
    } else if (range.mask != 0u && address - range.alias < span) {
      found = address - range.alias;
    } else {
      return false;
    }
    if (range.mask != 0u) found &= range.mask;
    *offset = found;
    return static_cast<uint64_t>(found) + bytes <= range.size;
  }

  static uint8_t *memory(void *context, tvm_pulp_port port, uint32_t address, uint32_t bytes) {
    HostedModel *self = static_cast<HostedModel *>(context);
    if (port == TVM_PULP_PORT_L2) return nullptr;  // no system around knows the way
    Window &window = self->windows_[port];
    uint32_t offset;
    if (!locate(window.range, address, bytes, &offset)) return nullptr;
    for (uint32_t word = offset / 4u; word < (offset + bytes + 3u) / 4u; word++) {
      if (window.fetched[word]) continue;
      uint32_t value = 0;
      if (!self->guest_.read_word(port, 4u * word, &value)) return nullptr;
      std::memcpy(window.bytes.get() + 4u * word, &value, 4);
      window.fetched[word] = true;
      window.words.push_back({word, value});
    }
    return window.bytes.get() + offset;
  }

  void write_back() {
    for (int port : {TVM_PULP_PORT_L1, TVM_PULP_PORT_WEIGHT}) {
      Window &window = windows_[port];
      for (const Change &change : window.words) {
        uint32_t value;
        std::memcpy(&value, window.bytes.get() + 4u * change.word, 4);
        window.fetched[change.word] = false;
        if (value != change.value && !guest_.write_word(static_cast<tvm_pulp_port>(port), 4u * change.word, value)) {
          guest_.fault(std::string(name()) + " wrote where there is no memory");
        }
      }
      window.words.clear();
    }
  }

  // Races are the embedded simulator's matter; here nobody looks for them.
  static void claim(void *, tvm_pulp_port, uint32_t, uint32_t, int, uint64_t) {}
  static void release(void *) {}

  static uint64_t take_banks(void *context, uint32_t address, uint32_t bytes, uint64_t) {
    HostedModel *self = static_cast<HostedModel *>(context);
    uint32_t offset;
    uint64_t late = 0;
    if (!locate(self->windows_[TVM_PULP_PORT_L1].range, address, bytes, &offset)) return 0;
    for (uint32_t word = offset / 4u; word < (offset + bytes + 3u) / 4u; word++) {
      const uint64_t waited = self->guest_.take_bank(4u * word);
      if (waited > late) late = waited;
    }
    return late;
  }

  static void raise(void *context, uint64_t cycle) { static_cast<HostedModel *>(context)->guest_.raise(cycle); }

  static void fault(void *context, const char *reason) {
    HostedModel *self = static_cast<HostedModel *>(context);
    self->guest_.fault(std::string(self->name()) + ": " + reason);
  }

  Guest &guest_;
  Settings settings_;
  Window windows_[2];
  void *library_ = nullptr;
  const tvm_pulp_peripheral *model_ = nullptr;
  void *self_ = nullptr;
};

} // namespace tvm_pulp

#endif // TVM_PULP_HOSTED_MODEL_HPP
