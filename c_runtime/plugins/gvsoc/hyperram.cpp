// SPDX-License-Identifier: Apache-2.0
//
// The external memory of a board, as GVSoC's own but with contents from a file: constants that a network keeps in L3.
// A transfer is six bytes of command, then data, one byte per cycle of the bus, which does the timing. Properties are
// those of tvm_pulp_hyperram.py.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <vp/vp.hpp>
#include <vp/itf/hyper.hpp>

class HyperRam : public vp::Component {
 public:
  explicit HyperRam(vp::ComponentConf &conf);

 private:
  enum { COMMAND_BYTES = 6, UNDEFINED = 0xA5 };

  static void on_select(vp::Block *block, int chip, int active);
  static void on_byte(vp::Block *block, int data);
  void fill(const std::string &path);
  [[noreturn]] void fault(const std::string &reason);

  vp::HyperSlave input;
  std::vector<uint8_t> bytes;
  uint64_t command = 0;
  int command_bytes = 0;
  uint32_t address = 0;
};

HyperRam::HyperRam(vp::ComponentConf &conf)
    : vp::Component(conf), bytes(static_cast<size_t>(get_js_config()->get_child_int("size")), uint8_t{UNDEFINED}) {
  input.set_cs_sync_meth(&HyperRam::on_select);
  input.set_sync_cycle_meth(&HyperRam::on_byte);
  new_slave_port("input", &input);
  const std::string path = get_js_config()->get_child_str("contents");
  if (!path.empty()) fill(path);
}

void HyperRam::fill(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) fault("cannot read the contents of L3, " + path);
  const size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
  const bool is_all = count < bytes.size() || std::fgetc(file) == EOF;
  std::fclose(file);
  if (!is_all) fault("L3 of " + std::to_string(bytes.size()) + " bytes is too small for " + path);
}

// Either edge ends a transfer.
void HyperRam::on_select(vp::Block *block, int, int) {
  HyperRam *self = static_cast<HyperRam *>(block);
  self->command = 0;
  self->command_bytes = 0;
}

// Command, from bit 47 on: read, registers, linear burst, 29 bits of address, 13 unused ones, 3 bits of address.
void HyperRam::on_byte(vp::Block *block, int data) {
  HyperRam *self = static_cast<HyperRam *>(block);
  if (self->command_bytes < COMMAND_BYTES) {
    self->command = self->command << 8 | (static_cast<uint64_t>(data) & 0xFFu);
    self->command_bytes++;
    self->address = static_cast<uint32_t>((self->command >> 16 & 0x1FFFFFFFu) << 3 | (self->command & 7u));
    return;
  }
  const bool is_read = self->command >> 47 & 1u, is_register = self->command >> 46 & 1u;
  const uint32_t at = self->address++;
  if (is_register) return;
  if (at >= self->bytes.size()) self->fault("address " + std::to_string(at) + " lies outside L3");
  if (is_read) {
    self->input.sync_cycle(self->bytes[at]);
  } else {
    self->bytes[at] = static_cast<uint8_t>(data);
  }
}

// Nothing sensible can follow.
void HyperRam::fault(const std::string &reason) {
  std::fprintf(stderr, "tvm_pulp: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

extern "C" vp::Component *gv_new(vp::ComponentConf &conf) { return new HyperRam(conf); }
