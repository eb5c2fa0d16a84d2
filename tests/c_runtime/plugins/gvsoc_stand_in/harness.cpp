// A system around the component: two memories, a clock, an interrupt wire; called from Python.
#include <cstring>
#include <memory>
#include <vector>

#include <vp/vp.hpp>
#ifdef TVM_PULP_IO_V2
#include <vp/itf/io_v2.hpp>
#else
#include <vp/itf/io.hpp>
#endif
#include <vp/itf/wire.hpp>

extern "C" vp::Component *gv_new(vp::ComponentConf &conf);

namespace {
vp::ComponentConf conf;
std::unique_ptr<vp::Component> component;
std::vector<uint8_t> l1(1u << 18), weight(1u << 16);
uint64_t bank_latency, timed_requests, odd_requests;

template <typename Port> Port *port(const char *name) {
  return static_cast<Port *>(vp::Component::ports().at(name));
}

bool serve(vp::IoMaster *master, vp::IoReq *request) {
  std::vector<uint8_t> &memory = master == port<vp::IoMaster>("out") ? l1 : weight;
  // Interleavers take aligned words and offsets.
  if (request->get_size() != 4 || request->get_addr() % 4 != 0) odd_requests++;
  if (request->get_addr() + 4 > memory.size()) return false;
  uint8_t *bytes = memory.data() + request->get_addr();
  if (request->get_is_write()) {
    std::memcpy(bytes, request->get_data(), 4);
  } else {
    std::memcpy(request->get_data(), bytes, 4);
  }
  if (!request->debug) {
    timed_requests++;
    request->inc_latency(bank_latency);
  }
  return true;
}

vp::IoReqStatus answer(vp::IoMaster *master, vp::IoReq *request) {
  const bool good = serve(master, request);
#ifdef TVM_PULP_IO_V2
  request->set_resp_status(good ? vp::IO_RESP_OK : vp::IO_RESP_INVALID);
  return vp::IO_REQ_DONE;
#else
  return good ? vp::IO_REQ_OK : vp::IO_REQ_INVALID;
#endif
}
} // namespace

extern "C" {
void harness_property(const char *name, const char *value) { conf.config.texts[name] = value; }

void harness_start(void) {
  component.reset(gv_new(conf));
  port<vp::IoMaster>("out")->answer = answer;
  port<vp::IoMaster>("wmem_out")->answer = answer;
  component->reset(true);
  component->reset(false);
}

// Latency of the access, or -1 for a bus error.
int harness_access(uint32_t offset, uint32_t bytes, int is_write, uint32_t *value) {
  vp::IoReq request;
  request.set_addr(offset);
  request.set_size(bytes);
  request.set_is_write(is_write != 0);
  request.set_data(reinterpret_cast<uint8_t *>(value));
  const vp::IoReqStatus status = port<vp::IoSlave>("input")->method(component.get(), &request);
#ifdef TVM_PULP_IO_V2
  const bool good = status == vp::IO_REQ_DONE && request.get_resp_status() == vp::IO_RESP_OK;
#else
  const bool good = status == vp::IO_REQ_OK;
#endif
  return good ? static_cast<int>(request.get_latency()) : -1;
}

void harness_advance(int64_t cycles) {
  vp::Clock &clock = vp::the_clock();
  const int64_t end = clock.cycles + cycles;
  while (!clock.events.empty() && clock.events.begin()->first <= end) {
    const auto first = clock.events.begin();
    vp::ClockEvent *event = first->second;
    clock.cycles = first->first;
    clock.events.erase(first);
    event->run();
  }
  clock.cycles = end;
}

int64_t harness_cycle(void) { return vp::the_clock().cycles; }
uint8_t *harness_memory(int is_weight) { return is_weight ? weight.data() : l1.data(); }
void harness_bank_latency(uint64_t cycles) { bank_latency = cycles; }
uint64_t harness_timed_requests(void) { return timed_requests; }
uint64_t harness_mistakes(void) { return odd_requests + vp::ClockEvent::mistakes; }
int harness_interrupts(void) { return port<vp::WireMaster<bool>>("irq")->synced; }
void harness_stop(void) { component->stop(); }
}
