#pragma once
/// A graph's values while its plan is made: maps, tensors, and tensors that consist of maps.

#include <map>
#include <optional>

#include "detectors/network/plan_builder.hpp"

namespace sightline::network {

/// Channels of a map that lie in a tensor: channel c of pixel (x, y) is element
/// offsets[c] + y * row_step + x * column_step.
struct Piece {
  Map map;
  std::vector<std::int64_t> offsets;
  std::int64_t row_step = 0, column_step = 0;
};
using Pieces = std::vector<Piece>;

class PlanValues : public PlanBuilder {
 public:
  PlanValues(const Graph& graph, Plan& plan);

  const Graph& graph() const { return graph_; }
  const Value& value(int number) const { return graph_.value(number); }
  int side(int number, std::size_t axis) const { return static_cast<int>(value(number).type.shape[axis]); }
  bool is_constant(int number) const { return number != kAbsent && value(number).constant != nullptr; }
  /// Whether a value is a picture's map of one frame.
  bool is_map_type(int number) const;
  const std::vector<const Node*>& readers(int number) const {
    return readers_[static_cast<std::size_t>(number)];
  }
  /// The only reader of a value that is no output of the network; null where there are others.
  const Node* only_reader(int number) const;
  /// Whether a value is an output of the network, or read by its dynamic nodes.
  bool is_output(int number) const { return is_output_[static_cast<std::size_t>(number)]; }
  const std::vector<const Node*>& dynamic_nodes() const { return plan_.dynamic_nodes; }
  /// Whether one of the dynamic nodes makes a value.
  bool is_dynamic(int number) const { return is_dynamic_[static_cast<std::size_t>(number)]; }

  std::optional<Map>& map_of(int number) { return maps_[static_cast<std::size_t>(number)]; }
  /// The map of a value; null where it has none and is no picture's.
  const Map* require_map(int number);
  /// The same in blocks of 16 channels.
  const Map* require_blocks(int number);
  Map in_blocks(const Map& map);
  /// Places of a value's elements in maps; none if the value does not consist of maps.
  const std::optional<Pieces>& placed_of(int number);
  void set_placed(int number, Pieces pieces) {
    placed_[static_cast<std::size_t>(number)] = std::move(pieces);
  }

  void add_input(int number);
  void require_output(int number);
  /// Nodes that only move elements: their results consist of maps as their inputs do. False for others.
  bool compile_movement(const Node& node);
  /// Any node, on tensors.
  void add_node_step(const Node& node);
  /// The plan's dynamic nodes, on tensors.
  void add_dynamic_step(std::int64_t memory_limit);

 private:
  static constexpr int kNone = -1;

  bool is_in_blocks(const Map& map) const;
  void pack(int from, int to);
  void add_tensor(int number);
  int add_shared_tensor(int number, int pool);
  void require_tensor(int number);
  Planned reads_of_tensors(const std::vector<int>& numbers);
  void find_dynamic_nodes();
  bool moves_channels_first(int number) const;
  bool is_channels_last(int number) const;
  std::unique_ptr<Step> reshape_of(const Node& node) const;

  const Graph& graph_;
  Plan& plan_;
  std::vector<std::optional<Map>> maps_;
  std::vector<std::optional<Pieces>> placed_;
  std::vector<bool> has_tensor_;
  std::vector<int> tensor_storage_;  // of values that segments share; kNone for others
  std::map<int, Map> tensor_maps_;   // of those that are pictures
  std::vector<std::vector<const Node*>> readers_;
  std::vector<bool> is_output_, is_dynamic_;
};

}  // namespace sightline::network
