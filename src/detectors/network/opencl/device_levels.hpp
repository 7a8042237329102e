#pragma once
/// A plan's levels on an OpenCL device: the kernels of kernels/network/level.cl with their tables and
/// weights.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "detectors/network/opencl/level_tables.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::network {

/// Thread-safety: any number of threads, each with kernels and a queue of its own.
class DeviceLevels {
 public:
  static constexpr int kMostFrames = 64;  ///< of one launch

  /// Launches of one frame, and of several, have kernels of their own: those of a thread.
  struct Kernels {
    std::vector<opencl::Kernel> one, several;
  };

  /// How kernels are made.
  struct Manner {
    /// A kernel for each level, which takes a device several seconds to build but is two or three times as
    /// fast as the one that reads tables.
    bool by_level = true;
    int groups = 1;  ///< that keep the device busy
  };
  static Manner manner_for(const opencl::DeviceInfo& device);

  /// Everything passed must outlive the object; `cache` may be null. Throws DeviceError, and Error (failed)
  /// where the plan is too large for the kernels' indices.
  DeviceLevels(const Plan& plan, const opencl::Context& context, opencl::ProgramCache* cache,
               const Manner& manner);

  /// Bytes that a number of frames need, stored one behind the other.
  std::size_t bytes(int frames) const;
  /// Place of a pool in a frame's memory, bytes behind the start of the memory of all frames.
  std::size_t place_of(std::size_t pool, int frames, int frame) const;
  std::size_t pool_bytes(std::size_t pool) const;

  /// Enqueues levels [first, last) for a number of frames. `arena` is their memory.
  /// @param launched  is told of the first command and of the last
  /// Throws DeviceError.
  void enqueue(opencl::Queue& queue, Kernels& kernels, const opencl::Buffer& arena, int frames,
               std::size_t first, std::size_t last, const std::function<void(opencl::Event)>& launched) const;

 private:
  // Kernels and tables, with tiles that suit a number of frames.
  struct Variant {
    LevelTables host;
    std::vector<opencl::Program> programs;  // by launch, or the one that reads tables
    opencl::Buffer chains, ops, places, numbers;
    int group = 1;  // work-items
  };
  Variant make_variant(int frames) const;
  void build(Variant& variant, const LaunchShape& shape) const;
  const Variant& variant_for(int frames) const;

  const Plan* plan_;
  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  Manner manner_;
  Weights placed_;  // without the floats themselves, which the device has
  Variant one_;
  opencl::Buffer weights_;
  mutable std::once_flag several_made_;
  mutable Variant several_;  // where kernels are made by level
};

}  // namespace sightline::network
