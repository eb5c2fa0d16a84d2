// What both I/O protocols have in common here.
#pragma once
#include "vp/vp.hpp"

namespace vp {
struct IoReqFields {
  uint64_t addr = 0, size = 0, latency = 0;
  uint8_t *data = nullptr;
  bool write = false, debug = false;
  uint64_t get_addr() { return addr; }
  void set_addr(uint64_t value) { addr = value; }
  uint64_t get_size() { return size; }
  void set_size(uint64_t value) { size = value; }
  uint8_t *get_data() { return data; }
  void set_data(uint8_t *value) { data = value; }
  bool get_is_write() { return write; }
  void set_is_write(bool value) { write = value; }
  void inc_latency(uint64_t cycles) { latency += cycles; }
  uint64_t get_latency() { return latency; }
};
} // namespace vp
