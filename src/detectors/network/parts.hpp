#pragma once
/// A network as parts that one processor runs each, one after the other. The CPU can run all of them.

#include <cstdint>
#include <vector>

#include "network/opencl/partitions.hpp"
#include "network/plan/cpu_plan.hpp"

namespace sightline::network {

inline constexpr std::size_t kMostParts = 4;  ///< of a network; the fourth runs on the CPU

/// Pools are pieces of memory that parts pass on: the picture, then the results of each part. The tensors of
/// one lie side by side (nn::offsets_in_row).
inline constexpr std::size_t kPicturePool = 0, kFirstResultPool = 1;
/// Inputs other than the picture: the size of frames decides them, so that they lie in no stage's memory.
inline constexpr std::size_t kSizesPool = kFirstResultPool + kMostParts;

/// Place of a tensor in a pool.
struct PoolPlace {
  std::size_t pool = 0;
  std::int64_t offset = 0;  ///< bytes
  bool is_there = false;    ///< not where each frame decides the tensor's size, or only its part needs it
};

struct Part {
  nn::Partition partition;
  nn::CpuPlan plan;
  std::vector<std::size_t> reads;  ///< pools, in rising order
};

/// Immutable once made.
struct Parts {
  nn::Graph graph;
  std::vector<Part> parts;
  std::vector<PoolPlace> places;         ///< by tensor of `graph`
  std::vector<std::int64_t> pool_bytes;  ///< by pool, without that of sizes
  std::int64_t sizes_bytes = 0;
  std::vector<std::size_t> result_pools;  ///< in which outputs of the network lie, in rising order

  const PoolPlace& place_of(int tensor) const { return places[static_cast<std::size_t>(tensor)]; }
  /// Memory of a frame with one thread, without tensors whose size it decides.
  std::int64_t frame_bytes() const;
};

/// Plans on the threads of the calling TBB arena.
/// @param picture       number of the input that takes the picture
/// @param memory_limit  bytes of a frame
/// Throws nn::Problem if the graph is too large for a plan, or a frame needs more memory.
Parts plan_parts(const nn::Graph& graph, std::size_t picture, std::int64_t memory_limit);

}  // namespace sightline::network
