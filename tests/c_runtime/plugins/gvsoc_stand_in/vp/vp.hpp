// The few calls of GVSoC's engine that a component makes, for tests without GVSoC. Written after its documentation.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace vp {

class Block {
 public:
  virtual ~Block() = default;
};

struct Config {
  std::map<std::string, std::string> texts;
  int64_t get_child_int(const std::string &name) { return texts.count(name) ? std::stoll(texts[name], nullptr, 0) : 0; }
  std::string get_child_str(const std::string &name) { return texts[name]; }
  bool get_child_bool(const std::string &name) { return texts[name] == "true"; }
};

struct ComponentConf {
  Config config;
};

enum TraceLevel { DEBUG };
struct Trace {};
struct Traces {
  void new_trace(const std::string &, Trace *, TraceLevel) {}
};

class ClockEvent;
// Time is moved by the test.
struct Clock {
  int64_t cycles = 0;
  std::multimap<int64_t, ClockEvent *> events;
  int64_t get_cycles() { return cycles; }
};
inline Clock &the_clock() {
  static Clock clock;
  return clock;
}

class ClockEvent {
 public:
  using Method = void(Block *, ClockEvent *);
  ClockEvent(Block *block, Method *method) : block_(block), method_(method) {}
  void enqueue(int64_t cycles) {
    if (is_enqueued() || cycles < 1) mistakes++;
    at_ = the_clock().cycles + cycles;
    the_clock().events.emplace(at_, this);
  }
  void cancel() {
    auto &events = the_clock().events;
    for (auto it = events.begin(); it != events.end(); ++it) {
      if (it->second == this) {
        events.erase(it);
        break;
      }
    }
    at_ = -1;
  }
  bool is_enqueued() const { return at_ >= 0; }
  void run() {
    at_ = -1;
    method_(block_, this);
  }
  static inline int mistakes = 0; // enqueued twice, or for the past

 private:
  Block *block_;
  Method *method_;
  int64_t at_ = -1;
};

class Component : public Block {
 public:
  explicit Component(ComponentConf &conf) : clock(the_clock()), config_(conf.config) {}
  virtual void reset(bool) {}
  virtual void stop() {}
  Config *get_js_config() { return &config_; }
  void new_slave_port(const std::string &name, void *port) { ports()[name] = port; }
  void new_master_port(const std::string &name, void *port) { ports()[name] = port; }
  static std::map<std::string, void *> &ports() {
    static std::map<std::string, void *> known;
    return known;
  }
  Traces traces;
  Clock &clock;

 private:
  Config config_;
};

} // namespace vp
