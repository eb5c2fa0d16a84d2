// The few parts of ETISS that a memory-mapped plug-in uses, for tests without ETISS. Written after its documentation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

typedef uint8_t etiss_uint8;
typedef uint16_t etiss_uint16;
typedef uint32_t etiss_uint32;
typedef uint64_t etiss_uint64;

struct ETISS_CPU {
  uint64_t cpuTime_ps = 0, cpuCycleTime_ps = 10000;
};

struct ETISS_System {
  void *handle = nullptr;
  int32_t (*dread)(void *, ETISS_CPU *, etiss_uint64, etiss_uint8 *, etiss_uint32) = nullptr;
  int32_t (*dwrite)(void *, ETISS_CPU *, etiss_uint64, etiss_uint8 *, etiss_uint32) = nullptr;
};

namespace etiss {
typedef int32_t int32;
class CPUArch;
class JIT;

class Plugin {
 public:
  virtual ~Plugin() = default;
  ETISS_CPU *plugin_cpu_ = nullptr;
  ETISS_System *plugin_system_ = nullptr;

 protected:
  virtual std::string _getPluginName() const = 0;
};

class CoroutinePlugin : virtual public Plugin {
 public:
  virtual int32 execute() = 0;
  virtual void executionEnd(int32_t) {}
};

namespace plugin {
struct MappedMemory {
  uintptr_t base = 0;
  size_t size = 0;
};

class MemMappedPeriph : virtual public Plugin {
 public:
  virtual MappedMemory getMappedMem() const = 0;
  virtual etiss_uint8 read8(etiss_uint64) { return 0; }
  virtual etiss_uint16 read16(etiss_uint64) { return 0; }
  virtual etiss_uint32 read32(etiss_uint64) { return 0; }
  virtual etiss_uint64 read64(etiss_uint64) { return 0; }
  virtual void write8(etiss_uint64, etiss_uint8) {}
  virtual void write16(etiss_uint64, etiss_uint16) {}
  virtual void write32(etiss_uint64, etiss_uint32) {}
  virtual void write64(etiss_uint64, etiss_uint64) {}
};
} // namespace plugin
} // namespace etiss

#define etiss_helper_merge_l2(X1, X2) X1##X2
#define etiss_helper_merge(X1, X2) etiss_helper_merge_l2(X1, X2)
#define ETISS_LIBRARYIF_VERSION_FUNC_IMPL \
  const char *etiss_helper_merge(ETISS_LIBNAME, _etissversion)() { return "stand-in"; }
