// The HyperBus as its devices see it: what the bus calls, and the byte that a device answers with.
#pragma once
#include <vp/vp.hpp>

namespace vp {

class HyperSlave {
 public:
  void set_sync_cycle_meth(void (*given)(Block *, int)) { on_byte = given; }
  void set_cs_sync_meth(void (*given)(Block *, int, int)) { on_select = given; }
  void sync_cycle(int data) { answer = data; }
  void (*on_byte)(Block *, int) = nullptr;
  void (*on_select)(Block *, int, int) = nullptr;
  int answer = -1;
};

} // namespace vp
