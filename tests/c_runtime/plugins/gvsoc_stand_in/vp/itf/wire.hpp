#pragma once
namespace vp {
template <typename T> struct WireMaster {
  int synced = 0;
  void sync(T value) { synced += value ? 1 : 0; }
};
} // namespace vp
