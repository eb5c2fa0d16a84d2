// A HyperBus with one device; called from Python.
#include <memory>

#include <vp/vp.hpp>
#include <vp/itf/hyper.hpp>

extern "C" vp::Component *gv_new(vp::ComponentConf &conf);

namespace {
vp::ComponentConf conf;
std::unique_ptr<vp::Component> component;

vp::HyperSlave *device() { return static_cast<vp::HyperSlave *>(vp::Component::ports().at("input")); }
} // namespace

extern "C" {
void bus_property(const char *name, const char *value) { conf.config.texts[name] = value; }

void bus_start(void) { component.reset(gv_new(conf)); }

void bus_select(int active) { device()->on_select(component.get(), 0, active); }

// The device's answer, or -1 where it has none.
int bus_byte(int data) {
  device()->answer = -1;
  device()->on_byte(component.get(), data);
  return device()->answer;
}
}
