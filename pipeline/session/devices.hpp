#pragma once
/// The devices that a pipeline runs stages on.

#include <bitset>
#include <cstddef>
#include <string>
#include <vector>

#include "processing/device_stages.hpp"

namespace sightline::pipeline {

/// Most devices of a pipeline.
inline constexpr std::size_t kMostDevices = 16;

/// Some of a pipeline's devices, by number from 0.
using DeviceSet = std::bitset<kMostDevices>;

/// A frame processor's stages on any number of devices, in the order in which the user named them. Owns
/// nothing: the stages must outlive it. Immutable.
class Devices {
 public:
  Devices() = default;
  // One device, or none, is the usual case: no ceremony for it.
  Devices(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Devices(const DeviceStages* device)
      : Devices(std::vector{device}) {}  // NOLINT(google-explicit-constructor)
  /// Null pointers are left out. Throws Error (usage) above kMostDevices.
  explicit Devices(const std::vector<const DeviceStages*>& devices);

  bool empty() const { return stages_.empty(); }
  std::size_t size() const { return stages_.size(); }
  const DeviceStages& operator[](std::size_t device) const { return *stages_[device]; }
  auto begin() const { return stages_.begin(); }
  auto end() const { return stages_.end(); }

  /// All devices.
  DeviceSet all() const { return DeviceSet((1UL << size()) - 1); }
  /// The stages that can run on each of some devices; none where `some` is empty.
  StageSet supported(const DeviceSet& some) const;
  StageSet supported() const { return supported(all()); }
  /// The device's name; where several have the same, with a number from 0: "NVIDIA H100 #0".
  std::string name(std::size_t device) const;

 private:
  std::vector<const DeviceStages*> stages_;
};

}  // namespace sightline::pipeline
