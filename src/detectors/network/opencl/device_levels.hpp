#pragma once
/// A plan's levels on an OpenCL device: the kernels of kernels/network/level.cl with their tables and
/// weights.

#include <functional>
#include <future>
#include <mutex>
#include <vector>

#include "detectors/network/opencl/level_tables.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::network {

/// Kernels of levels are built by threads of the object, since GPUs' compilers take seconds for them.
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

  /// Kernels and tables, with tiles that suit a number of frames; any number can run with them.
  struct Variant {
    LevelTables host;
    std::vector<opencl::Program> programs;  ///< by launch, or the one that reads tables
    opencl::Buffer chains, ops, places, numbers;
    LaunchShape shape;

    /// Bytes that a number of frames need, stored one behind the other.
    std::size_t bytes(int frames) const { return place(frames * host.frame_floats); }
    /// Place of a pool in a frame's memory, bytes behind the start of the memory of all frames.
    std::size_t place_of(std::size_t pool, int frame) const {
      return place(frame * host.frame_floats + host.pools[pool]);
    }

   private:
    static std::size_t place(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }
  };

  /// Begins to build the kernels by level, and waits a moment: the cache's are there then. Others are built
  /// at once. Everything passed must outlive the object; `cache` may be null. Throws DeviceError, and Error
  /// (failed) where the plan is too large for the kernels' indices.
  DeviceLevels(const Plan& plan, const opencl::Context& context, opencl::ProgramCache* cache,
               const Manner& manner);
  DeviceLevels(const DeviceLevels&) = delete;
  DeviceLevels& operator=(const DeviceLevels&) = delete;
  /// Waits for kernels that are being built: the cache gets them.
  ~DeviceLevels();

  /// Whether the kernels for one frame are built. Throws what building them threw.
  bool is_ready() const;
  /// Waits for the kernels for one frame and, if there are more frames, for those for several. Throws as
  /// `is_ready`.
  void wait_until_ready(int frames) const;
  /// The kernels for a number of frames. Those for several are built when they are first asked for; until
  /// they are, and as long as the object lives, those for one frame serve. Waits until these are built.
  /// Throws as `is_ready`.
  const Variant& variant_for(int frames) const;

  std::size_t pool_bytes(std::size_t pool) const;

  /// Enqueues levels [first, last) for a number of frames. `arena` is their memory.
  /// @param variant   of `variant_for`
  /// @param launched  is told of the first command and of the last
  /// Throws DeviceError.
  void enqueue(const Variant& variant, opencl::Queue& queue, Kernels& kernels, const opencl::Buffer& arena,
               int frames, std::size_t first, std::size_t last,
               const std::function<void(opencl::Event)>& launched) const;

 private:
  using Building = std::shared_future<Variant>;

  Building begin_to_build(int frames) const;
  Variant make_variant(const LevelTables& tables, const LaunchShape& shape) const;
  void build(Variant& variant) const;
  const Building& several() const;

  const Plan* plan_;
  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  Manner manner_;
  Weights placed_;  // without the floats themselves, which the device has
  opencl::Buffer weights_;
  mutable std::mutex mutex_;
  // Last: their threads use the others.
  Building one_;
  mutable Building several_;  // guarded by the mutex; where kernels are made by level, once asked for
};

}  // namespace sightline::network
