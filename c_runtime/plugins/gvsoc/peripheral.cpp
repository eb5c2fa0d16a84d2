// SPDX-License-Identifier: Apache-2.0
//
// Any accelerator model behind tvm_pulp/peripheral.h as a GVSoC component: registers at port `input`, L1 at `out`, weight
// memory at `wmem_out`, completion at `irq`. Properties are those of tvm_pulp_peripheral.py. With TVM_PULP_IO_V2 it
// speaks the second I/O protocol, of whose answers it takes those that come at once.
#include <cstdio>
#include <memory>
#include <string>

#include <vp/vp.hpp>
#ifdef TVM_PULP_IO_V2
#include <vp/itf/io_v2.hpp>
#else
#include <vp/itf/io.hpp>
#endif
#include <vp/itf/wire.hpp>

#include "hosted_model.hpp"

class Peripheral : public vp::Component, private tvm_pulp::Guest {
 public:
  explicit Peripheral(vp::ComponentConf &conf);
  void reset(bool active) override;
  void stop() override;

 private:
  static vp::IoReqStatus access(vp::Block *block, vp::IoReq *request);
  static void on_event(vp::Block *block, vp::ClockEvent *event);
  static void on_raise(vp::Block *block, vp::ClockEvent *event);

  bool read_word(tvm_pulp_port port, uint32_t offset, uint32_t *word) override;
  bool write_word(tvm_pulp_port port, uint32_t offset, uint32_t word) override;
  uint64_t take_bank(uint32_t offset) override;
  void raise(uint64_t cycle) override;
  void fault(const std::string &reason) override;

  bool request_word(vp::IoMaster &port, uint32_t offset, uint32_t *word, bool is_write, bool is_timed);
  void schedule();
  uint64_t now() { return static_cast<uint64_t>(clock.get_cycles()); }
  uint32_t number(const char *property) { return static_cast<uint32_t>(get_js_config()->get_child_int(property)); }

  vp::Trace trace;
  vp::IoSlave input;
  vp::IoMaster out, wmem_out;
  vp::WireMaster<bool> irq;
  vp::IoReq request;
  vp::ClockEvent event, raise_event;
  std::unique_ptr<tvm_pulp::HostedModel> model;
  uint32_t register_latency;
};

Peripheral::Peripheral(vp::ComponentConf &conf)
    : vp::Component(conf), event(this, &Peripheral::on_event), raise_event(this, &Peripheral::on_raise) {
  traces.new_trace("trace", &trace, vp::DEBUG);
  input.set_req_meth(&Peripheral::access);
  new_slave_port("input", &input);
  new_master_port("out", &out);
  new_master_port("wmem_out", &wmem_out);
  new_master_port("irq", &irq);
  register_latency = number("register_latency");
  tvm_pulp::Settings settings;
  settings.library = get_js_config()->get_child_str("library");
  settings.parameters = get_js_config()->get_child_str("parameters");
  settings.l1 = {number("l1_base"), number("l1_size"), number("l1_mask"), 0u};
  settings.weight = {0u, number("weight_size"), 0u, 0u};
  settings.arbitrate = get_js_config()->get_child_bool("arbitrate");
  try {
    model.reset(new tvm_pulp::HostedModel(*this, settings));
  } catch (const std::exception &error) {
    fault(error.what());
  }
}

void Peripheral::reset(bool active) {
  if (!active) return;
  event.cancel();
  raise_event.cancel();
  if (model) model->reset();
}

void Peripheral::stop() {
  if (model) std::printf("tvm_pulp %s\n", model->statistics_text().c_str());
}

vp::IoReqStatus Peripheral::access(vp::Block *block, vp::IoReq *request) {
  Peripheral *self = static_cast<Peripheral *>(block);
  const uint64_t offset = request->get_addr();
  bool known = request->get_size() == 4 && offset % 4 == 0 && self->model && offset < self->model->register_bytes();
  if (known) {
    uint32_t value;
    if (request->get_is_write()) {
      std::memcpy(&value, request->get_data(), 4);
      self->model->write(static_cast<uint32_t>(offset), value, 0, self->now());
    } else {
      value = self->model->read(static_cast<uint32_t>(offset), 0, self->now());
      std::memcpy(request->get_data(), &value, 4);
    }
    request->inc_latency(self->register_latency);
    self->schedule();
  }
#ifdef TVM_PULP_IO_V2
  request->set_resp_status(known ? vp::IO_RESP_OK : vp::IO_RESP_INVALID);
  return vp::IO_REQ_DONE;
#else
  return known ? vp::IO_REQ_OK : vp::IO_REQ_INVALID;
#endif
}

// Something happens by itself: a job ends, or an access is due.
void Peripheral::on_event(vp::Block *block, vp::ClockEvent *) {
  Peripheral *self = static_cast<Peripheral *>(block);
  self->model->advance(self->now());
  self->schedule();
}

void Peripheral::on_raise(vp::Block *block, vp::ClockEvent *) { static_cast<Peripheral *>(block)->irq.sync(true); }

// The clock event goes off when the model wants to be advanced, which any register access may have changed.
void Peripheral::schedule() {
  const uint64_t next = model->next_event();
  if (event.is_enqueued()) event.cancel();
  if (next == TVM_PULP_NEVER) return;
  const uint64_t cycle = now();
  event.enqueue(next > cycle ? static_cast<int64_t>(next - cycle) : 1);
}

// The interleavers of L1 and weight memory take one word of one bank at a time, by its offset in the memory.
bool Peripheral::request_word(vp::IoMaster &port, uint32_t offset, uint32_t *word, bool is_write, bool is_timed) {
#ifdef TVM_PULP_IO_V2
  request.prepare();
#else
  request.init();
  request.set_debug(!is_timed);
#endif
  request.set_addr(offset);
  request.set_size(4);
  request.set_data(reinterpret_cast<uint8_t *>(word));
  request.set_is_write(is_write);
  const vp::IoReqStatus status = port.req(&request);
#ifdef TVM_PULP_IO_V2
  (void)is_timed;
  return status == vp::IO_REQ_DONE && request.get_resp_status() == vp::IO_RESP_OK;
#else
  return status == vp::IO_REQ_OK;
#endif
}

bool Peripheral::read_word(tvm_pulp_port port, uint32_t offset, uint32_t *word) {
  return request_word(port == TVM_PULP_PORT_L1 ? out : wmem_out, offset, word, false, false);
}

bool Peripheral::write_word(tvm_pulp_port port, uint32_t offset, uint32_t word) {
  return request_word(port == TVM_PULP_PORT_L1 ? out : wmem_out, offset, &word, true, false);
}

uint64_t Peripheral::take_bank(uint32_t offset) {
  uint32_t word;
  return request_word(out, offset, &word, false, true) ? static_cast<uint64_t>(request.get_latency()) : 0;
}

void Peripheral::raise(uint64_t cycle) {
  const uint64_t current = now();
  if (cycle <= current) {
    irq.sync(true);
  } else {
    raise_event.enqueue(static_cast<int64_t>(cycle - current));
  }
}

// The guest asked for what the hardware does not do, or the installation is wrong: nothing sensible can follow.
void Peripheral::fault(const std::string &reason) {
  std::fprintf(stderr, "tvm_pulp: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

extern "C" vp::Component *gv_new(vp::ComponentConf &conf) { return new Peripheral(conf); }
