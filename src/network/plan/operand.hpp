#pragma once
/// Operands: where a tile kernel finds the elements of a tensor, whatever views lie between.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "network/graph.hpp"
#include "network/plan/element_addresses.hpp"
#include "network/plan/elements.hpp"
#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

/// A stored tensor that an operand shows. Each has row steps of its own, which `points` says.
struct OperandSource {
  int tensor = kNone;
  bool is_scratch = false;           ///< its points are those of the tile alone
  std::int64_t step = 0;             ///< floats from point to point within a row of `linear` points
  std::vector<std::int32_t> points;  ///< by point, in floats
  friend bool operator==(const OperandSource&, const OperandSource&) = default;
};

/// An operand by point and channel. The float of channel c at point p is
///   source.base + source.points[p] + channel[c].offset
/// where its offsets fit that form, else the one that `elements` lists.
struct Operand {
  struct Channel {
    int source = 0;
    std::int32_t offset = 0;
    bool is_none = false;  ///< fills up a row to whole blocks; it may be read, and has any value
    friend bool operator==(const Channel&, const Channel&) = default;
  };
  std::vector<OperandSource> sources;
  std::vector<Channel> channels;
  std::int64_t linear = 1;        ///< points of a row in which all sources have one step; divides all points
  std::vector<Channel> elements;  ///< by point, then channel; {}: the form above
  friend bool operator==(const Operand&, const Operand&) = default;

  std::int64_t count() const { return static_cast<std::int64_t>(channels.size()); }
  /// Whether the form holds, and rows are not too short to be of use.
  bool is_linear(std::int64_t points) const;
  /// The step of all sources; 0 also where they differ.
  std::int64_t common_step() const;
  /// Whether the channels of a block lie side by side in one block of a source. If some are none, or it is
  /// the last one, lanes behind them must be there as well.
  bool has_block(std::int64_t block) const;
  /// Channels of a block that are there.
  std::int64_t channels_in(std::int64_t block) const;
};

/// Storages of a graph's stored tensors, and the operands that they make. Thread-safety: const members may be
/// called by several threads, once all storages are set.
class Stored {
 public:
  Stored(const Graph& graph, std::span<const PlannedTensor> tensors);

  Storage& operator[](int tensor) { return storages_[static_cast<std::size_t>(tensor)]; }
  const Storage& operator[](int tensor) const { return storages_[static_cast<std::size_t>(tensor)]; }
  std::span<const PlannedTensor> planned() const { return tensors_; }
  const PlannedTensor& planned(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)]; }
  std::vector<Storage> storages() && { return std::move(storages_); }

  /// A tensor, repeated up to a shape, by the points and channels of a layout of that shape.
  Operand operand(int tensor, const Shape& shape, const Layout& layout) const;
  /// The same, found element by element: slow, for operands of any form and for tests.
  Operand operand_by_elements(int tensor, const Shape& shape, const Layout& layout) const;
  /// Of a stored tensor.
  const ElementAddresses& element_addresses(int tensor) const;
  /// What a tensor shows of stored ones; nothing where strides cannot express it.
  const std::optional<View>& view(int tensor) const { return views_[static_cast<std::size_t>(tensor)]; }
  /// Lets a stored tensor lie in another one, which is plain. @param place  of its elements there
  void place_in(const Run& place, int tensor);
  /// Whether a tensor has elements of its own, which waves read or write.
  bool is_stored(int tensor) const;

  /// Calls `f(point, channel, tensor, address)` for all elements that a tensor has when it is repeated up to
  /// a shape: places by a layout of that shape, and addresses in stored tensors.
  template <typename F>
  void for_each_address(int tensor, const Shape& shape, const Layout& layout, const F& f) const;

 private:
  const Tensor& codes(int tensor) const;
  void count_elements(std::int64_t elements) const;

  const Graph& graph_;
  std::span<const PlannedTensor> tensors_;
  std::vector<Storage> storages_;
  std::vector<std::optional<View>> views_;  ///< by tensor; nothing where strides cannot express it
  // As they are asked for:
  mutable std::recursive_mutex mutex_;                                        ///< of what follows
  mutable std::map<int, std::optional<ElementAddresses>> element_addresses_;  ///< by stored tensor
  mutable std::int64_t elements_seen_ = 0;                                    ///< one by one
  mutable std::map<int, Tensor> codes_;  ///< by tensor: the stored tensor and the number of each element
};

template <typename F>
void Stored::for_each_address(int tensor, const Shape& shape, const Layout& layout, const F& f) const {
  const std::lock_guard lock(mutex_);
  count_elements(elements_of(shape));
  const std::optional<View>& view = views_[static_cast<std::size_t>(tensor)];
  const ElementAddresses* addresses = nullptr;
  int last = kNone;
  const auto call = [&](std::int64_t point, std::int64_t channel, int source, std::int64_t index) {
    if (source != last) addresses = &element_addresses(last = source);
    f(point, channel, source, static_cast<std::int32_t>(addresses->address(index)));
  };
  if (view) return for_each_element(shape, layout, *view, call);
  const Tensor& all = codes(tensor);
  for_each_element(shape, layout, View::of(0, all.shape()),
                   [&](std::int64_t point, std::int64_t channel, int /*own*/, std::int64_t index) {
                     const std::int64_t code = all.as<std::int64_t>()[static_cast<std::size_t>(index)];
                     call(point, channel, static_cast<int>(code >> 32), code & 0xffffffff);
                   });
}

}  // namespace sightline::nn
