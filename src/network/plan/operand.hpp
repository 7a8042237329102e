#pragma once
/// Operands: where a tile kernel finds the elements of a tensor, whatever views lie between.

#include <cstdint>
#include <map>
#include <vector>

#include "network/graph.hpp"
#include "network/plan/planned_tensor.hpp"
#include "network/plan/storage.hpp"

namespace sightline::nn {

/// A stored tensor that an operand shows. Each has row steps of its own, which `points` says.
struct OperandSource {
  int tensor = kNone;
  bool is_scratch = false;           ///< its points are those of the tile alone
  std::int64_t step = 0;             ///< floats from point to point within a row of `linear` points
  std::vector<std::int32_t> points;  ///< by point, in floats: of channel places; of scratch: none
};

/// An operand by point and channel. The float of channel c at point p is
///   source.base + source.points[p] + channel[c].offset
/// where its offsets fit that form, else the one that `elements` lists.
struct Operand {
  struct Channel {
    int source = 0;
    std::int32_t offset = 0;
  };
  std::vector<OperandSource> sources;
  std::vector<Channel> channels;
  std::int64_t linear = 1;        ///< points of a row in which all sources have one step; divides all points
  std::vector<Channel> elements;  ///< by point, then channel; {}: the form above

  std::int64_t count() const { return static_cast<std::int64_t>(channels.size()); }
  /// Whether the form holds, and rows are not too short to be of use.
  bool is_linear(std::int64_t points) const;
  /// The step of all sources; 0 also where they differ.
  std::int64_t common_step() const;
  /// Whether the channels of a block lie side by side in one block of a source.
  bool has_block(std::int64_t block) const;
};

/// Storages of a graph's stored tensors, and the operands that they make.
class Stored {
 public:
  Stored(const Graph& graph, std::span<const PlannedTensor> tensors)
      : graph_(graph), tensors_(tensors), storages_(graph.tensors().size()) {}

  Storage& operator[](int tensor) { return storages_[static_cast<std::size_t>(tensor)]; }
  const Storage& operator[](int tensor) const { return storages_[static_cast<std::size_t>(tensor)]; }
  std::span<const PlannedTensor> planned() const { return tensors_; }
  const PlannedTensor& planned(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)]; }
  std::vector<Storage> storages() && { return std::move(storages_); }

  /// A tensor, repeated up to a shape, by the points and channels of a layout of that shape.
  Operand operand(int tensor, const Shape& shape, const Layout& layout) const;
  /// Addresses of a stored tensor's elements; {}: it is plain.
  const std::vector<std::int32_t>& addresses(int tensor) const;

 private:
  const Graph& graph_;
  std::span<const PlannedTensor> tensors_;
  std::vector<Storage> storages_;
  mutable std::map<int, std::vector<std::int32_t>> addresses_;  ///< as they are asked for
};

}  // namespace sightline::nn
