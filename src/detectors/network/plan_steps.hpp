#pragma once
/// The steps of a plan.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "detectors/network/interpreter.hpp"
#include "detectors/network/plan.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {

inline RowPlace row_place(const std::vector<Storage>& storages, const ChannelPlace& place, int row_step) {
  const Storage& s = storages[static_cast<std::size_t>(place.storage)];
  const std::int64_t row = s.pool == kRowPool ? 0 : s.row_floats();
  return {s.offset + place.channel / s.lanes * s.block_floats() + place.y * row +
              (std::int64_t{s.pad} + place.x) * s.lanes + place.channel % s.lanes,
          row * row_step, s.pool};
}

/// Blocks of a storage that a step writes, and whose ends of rows it clears.
class OutputRows {
 public:
  OutputRows() = default;
  OutputRows(int storage, int blocks) : storage_(storage), blocks_(blocks) {}
  void lay_out(const std::vector<Storage>& storages) {
    const Storage& s = storages[static_cast<std::size_t>(storage_)];
    place_ = row_place(storages, {storage_, 0}, 1);
    block_step_ = s.block_floats();
    pad_ = s.pad * s.lanes;
    width_ = s.width * s.lanes;
    pixels_ = s.width;
  }
  int width() const { return pixels_; }
  int storage() const { return storage_; }
  int blocks() const { return blocks_; }
  float* block(const PlanMemory& memory, int row, int block) const {
    return memory.at(place_, row) + block * block_step_;
  }
  /// Clears the ends of a row of all blocks.
  void clear_ends(const PlanMemory& memory, int row) const {
    for (int b = 0; b < blocks_ && pad_ > 0; ++b) {
      float* const first = block(memory, row, b);
      std::fill_n(first - pad_, pad_, 0.0F);
      std::fill_n(first + width_, pad_, 0.0F);
    }
  }

 private:
  int storage_ = 0, blocks_ = 0;
  RowPlace place_;
  std::int64_t block_step_ = 0;
  std::ptrdiff_t pad_ = 0, width_ = 0;  // floats
  int pixels_ = 0;
};

/// Rows of a map's channels: all of them, or the first of each block.
class InputRows {
 public:
  InputRows() = default;
  InputRows(Map map, bool by_block) : map_(std::move(map)), by_block_(by_block) {}
  void lay_out(const std::vector<Storage>& storages) {
    for (std::size_t i = 0; i < map_.channels.size(); i += by_block_ ? kBlock : 1)
      places_.push_back(row_place(storages, map_.channels[i], map_.row_step));
    const Storage& s = storages[static_cast<std::size_t>(map_.channels.front().storage)];
    pixel_step_ = std::ptrdiff_t{map_.column_step} * s.lanes;
  }
  const Map& map() const { return map_; }
  bool by_block() const { return by_block_; }
  std::ptrdiff_t pixel_step() const { return pixel_step_; }  ///< floats
  std::size_t size() const { return places_.size(); }
  float* row(const PlanMemory& memory, std::size_t i, std::int64_t row) const {
    return memory.at(places_[i], row);
  }
  /// Floats from row to row of one of them: each storage has ends of its own.
  std::ptrdiff_t row_step(std::size_t i) const { return places_[i].row_step; }

 private:
  Map map_;
  bool by_block_ = false;
  std::vector<RowPlace> places_;
  std::ptrdiff_t pixel_step_ = 0;
};

/// A step that makes one map from another.
class MapStep : public Step {
 public:
  InputRows in;
  OutputRows out;

  void lay_out(const std::vector<Storage>& storages) override;
};

/// Convolution, dense.
class ConvolutionStep : public MapStep {
 public:
  std::optional<InputRows> added;  ///< to the sums
  Finish finish;
  WindowPlan window;
  /// By block of outputs, tap (kernel row and column), input, and output in the block; by output.
  std::vector<float> weights, bias;
  std::int64_t channels = 0;  ///< without those that fill the last block
  float weight(std::int64_t output, std::int64_t tap, std::int64_t input) const {
    const std::int64_t taps = window.kernel[0] * window.kernel[1];
    const auto inputs = static_cast<std::int64_t>(in.map().channels.size());
    return weights[static_cast<std::size_t>(((output / kBlock * taps + tap) * inputs + input) * kBlock +
                                            output % kBlock)];
  }

  void lay_out(const std::vector<Storage>& storages) override;
  void run(const PlanMemory& memory, int row) const override;
  std::int64_t multiply_adds() const override {
    return window.out[0] * window.out[1] * channels * static_cast<std::int64_t>(weights.size() / bias.size());
  }
  std::string text() const override;
  std::size_t pointers() const override;
  std::int64_t zeros() const override;
};

class DepthwiseStep : public ConvolutionStep {
 public:
  void run(const PlanMemory& memory, int row) const override;
  std::size_t pointers() const override { return static_cast<std::size_t>(window.kernel[0]); }
  std::string text() const override;
};

/// a op b, or an activation alone. The second input may be one value a channel: a map of 1x1, or a constant.
class BinaryStep : public Step {
 public:
  InputRows a;
  std::optional<InputRows> b;
  OutputRows out;
  std::vector<float> constant;  ///< in place of b, by channel
  Binary op = Binary::add;
  Activation activation;

  void lay_out(const std::vector<Storage>& storages) override;
  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override;
};

/// Folds of windows.
class WindowStep : public MapStep {
 public:
  WindowPlan window;

  std::size_t pointers() const override { return static_cast<std::size_t>(window.kernel[0]); }
  std::int64_t spare() const override;

 protected:
  void fold_windows(nn::Fold fold, const PlanMemory& memory, int row) const;
};

class PoolStep : public WindowStep {
 public:
  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "maximum pooling"; }
};

/// Means of windows.
class AverageStep : public WindowStep {
 public:
  WindowCounts counts;

  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "average pooling"; }
};

/// A map with a constant around it.
class PadStep : public MapStep {
 public:
  int top = 0, left = 0;  ///< pixels of padding
  float value = 0;

  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "padding"; }
};

class ResizeStep : public MapStep {
 public:
  ResizeAxis rows, columns;
  bool linear = false;

  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "resize"; }
};

/// Mean of each channel.
class MeanStep : public MapStep {
 public:
  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "mean"; }
};

/// Channels from anywhere into blocks.
class CopyStep : public MapStep {
 public:
  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "copy"; }
};

/// Channels of a map, or of a tensor that only the CPU has, into planes with ends.
class PackStep : public MapStep {
 public:
  int value = 0;  ///< the tensor, where there is no map

  bool has_map() const { return !in.map().channels.empty(); }
  void lay_out(const std::vector<Storage>& storages) override;
  void run(const PlanMemory& memory, int row) const override;
  bool suits_devices() const override { return has_map(); }
  std::string text() const override { return "pack"; }
};

/// A map's elements into a tensor that segments share: channel c of pixel (x, y) becomes element
/// offsets[c] + y * row_step + x * column_step.
class PlaceStep : public Step {
 public:
  InputRows in;
  int storage = 0;
  std::vector<std::int64_t> offsets;
  std::int64_t row_step = 0, column_step = 0;

  void lay_out(const std::vector<Storage>& storages) override;
  void run(const PlanMemory& memory, int row) const override;
  std::string text() const override { return "place"; }

 private:
  RowPlace out_;
};

/// A tensor under another shape: it takes the memory of one that nobody else reads.
class ReshapeStep : public Step {
 public:
  int from = 0, to = 0;  ///< values
  Shape from_shape, to_shape;

  void lay_out(const std::vector<Storage>&) override {}
  void run(const PlanMemory& memory, int row) const override;
  bool suits_devices() const override { return false; }
  std::string text() const override { return "Reshape"; }
};

/// A node in its scalar form, or by kernels on tensors. Its rows are parts of its work.
class NodeStep : public Step {
 public:
  /// All types are known.
  NodeStep(const Graph& graph, const Node& node);
  int parts() const { return parts_; }
  void lay_out(const std::vector<Storage>&) override {}
  void run(const PlanMemory& memory, int row) const override;
  bool suits_devices() const override { return false; }
  std::int64_t multiply_adds() const override { return multiply_adds_of(graph_, node_); }
  std::string text() const override { return node_.op; }

 private:
  const Graph& graph_;
  const Node& node_;
  bool has_all_outputs_ = false;  ///< whether the graph has values for all outputs that the operator makes
  int parts_ = 1;
};

/// Nodes whose results have sizes that each frame decides, one by one in their scalar form.
class DynamicStep : public Step {
 public:
  /// @param memory_limit  bytes of what they make
  DynamicStep(const Graph& graph, std::vector<const Node*> nodes, std::int64_t memory_limit)
      : nodes_(graph, std::move(nodes), memory_limit) {}
  void lay_out(const std::vector<Storage>&) override {}
  void run(const PlanMemory& memory, int /*row*/) const override { nodes_.run(*memory.values); }
  bool suits_devices() const override { return false; }
  std::string text() const override { return std::to_string(nodes_.size()) + " dynamic nodes"; }

 private:
  const NodeSequence nodes_;
};

}  // namespace sightline::network
