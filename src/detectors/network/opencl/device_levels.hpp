#pragma once
/// A plan's levels on an OpenCL device: kernels/network/level.cl with its tables and weights.

#include <array>
#include <functional>
#include <memory>
#include <mutex>

#include "detectors/network/opencl/level_tables.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::network {

/// Thread-safety: any number of threads, each with kernels and a queue of its own.
class DeviceLevels {
 public:
  static constexpr int kMostFrames = 64;  ///< of one launch

  /// Launches of one frame, and of several, have kernels of their own.
  struct Kernels {
    opencl::Kernel one, several;
  };

  /// Everything passed must outlive the object; `cache` may be null. Throws DeviceError, and Error (failed)
  /// where the plan is too large for the kernels' indices.
  DeviceLevels(const Plan& plan, const opencl::Context& context, opencl::ProgramCache* cache);

  Kernels make_kernels() const;

  /// Bytes that a number of frames need, stored one behind the other.
  std::size_t bytes(int frames) const;
  /// Place of a pool in a frame's memory, bytes behind the start of the memory of all frames.
  std::size_t place_of(std::size_t pool, int frames, int frame) const;
  std::size_t pool_bytes(std::size_t pool) const;

  /// Enqueues levels [first, last) for a number of frames. `arena` is their memory.
  /// @param launched  is told of every command
  /// Throws DeviceError.
  void enqueue(opencl::Queue& queue, Kernels& kernels, const opencl::Buffer& arena, int frames,
               std::size_t first, std::size_t last, const std::function<void(opencl::Event)>& launched) const;

 private:
  // Tables on the device, with tiles that suit a number of frames.
  struct Tables {
    LevelTables host;  // without weights
    opencl::Buffer chains, ops, places, numbers;
  };
  const Tables& tables_for(int frames) const;
  LaunchShape shape_for(int frames) const;

  const Plan* plan_;
  const opencl::Context* context_;
  opencl::Program one_, several_;  // the latter empty where it would be the same
  opencl::Buffer weights_;
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<Tables>, 7> tables_;  // of 1, 2, 4, ... 64 frames
};

}  // namespace sightline::network
