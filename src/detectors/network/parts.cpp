#include "detectors/network/parts.hpp"

#include <algorithm>
#include <set>

#include "network/plan/arena.hpp"

namespace sightline::network {
namespace {

// Lays tensors into a pool, but for those of unknown size. Returns its bytes.
std::int64_t place(Parts& parts, const std::vector<int>& tensors, std::size_t pool) {
  std::vector<int> placed;
  std::vector<std::int64_t> bytes;
  for (const int tensor : tensors) {
    if (!nn::is_known(parts.graph.shape(tensor))) continue;
    placed.push_back(tensor);
    bytes.push_back(nn::bytes_of(parts.graph.type(tensor)));
  }
  const std::vector<std::int64_t> offsets = nn::offsets_in_row(bytes);
  for (std::size_t i = 0; i < placed.size(); ++i)
    parts.places[static_cast<std::size_t>(placed[i])] = {pool, offsets[i], true};
  return offsets.back();
}

std::vector<std::size_t> pools_of(const Parts& parts, const std::vector<int>& tensors) {
  std::set<std::size_t> pools;
  for (const int tensor : tensors) {
    if (parts.graph.constant(tensor)) continue;
    const PoolPlace& place = parts.place_of(tensor);
    if (place.is_there && place.pool != kSizesPool) pools.insert(place.pool);
    // The part that makes a tensor of unknown size keeps it.
    for (std::size_t p = 0; p < parts.parts.size(); ++p) {
      const std::vector<int>& made = parts.parts[p].partition.outputs;
      if (std::ranges::find(made, tensor) != made.end()) pools.insert(kFirstResultPool + p);
    }
  }
  return {pools.begin(), pools.end()};
}

}  // namespace

std::int64_t Parts::frame_bytes() const {
  std::int64_t bytes = 0;
  for (const Part& part : parts) bytes += part.plan.frame_bytes();
  return bytes;
}

Parts plan_parts(const nn::Graph& graph, std::size_t picture, std::int64_t memory_limit) {
  nn::Partitions divided = nn::partitions_of(graph, kMostParts);
  Parts parts;
  parts.graph = std::move(divided.graph);
  parts.places.resize(parts.graph.tensors().size());
  std::vector<int> sizes = parts.graph.inputs();
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(picture));
  parts.sizes_bytes = place(parts, sizes, kSizesPool);
  parts.pool_bytes.push_back(place(parts, {parts.graph.inputs()[picture]}, kPicturePool));
  nn::CpuPlanOptions options;
  options.memory_limit = memory_limit;
  for (nn::Partition& one : divided.parts) {
    nn::CpuPlan plan = nn::plan_for_cpu(one.graph, options);
    parts.parts.push_back({std::move(one), std::move(plan), {}});
    parts.pool_bytes.push_back(place(parts, parts.parts.back().partition.outputs, parts.pool_bytes.size()));
  }
  for (Part& part : parts.parts) part.reads = pools_of(parts, part.partition.inputs);
  parts.result_pools = pools_of(parts, parts.graph.outputs());
  nn::check_frame_bytes(parts.graph, parts.frame_bytes(), memory_limit);
  return parts;
}

}  // namespace sightline::network
