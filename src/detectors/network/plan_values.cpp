#include "detectors/network/plan_values.hpp"

#include <algorithm>
#include <iterator>

namespace sightline::network {
namespace {

bool reshapes(const Node& node) {
  return node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
}

// Moves a piece's elements to the places that `moved` gives; false where they no longer lie in even steps.
template <typename Moved>
bool move_piece(Piece& piece, const Moved& moved) {
  const Piece old = piece;
  for (std::int64_t& offset : piece.offsets) offset = moved(offset);
  const std::int64_t first = old.offsets.front();
  if (old.map.height > 1) piece.row_step = moved(first + old.row_step) - piece.offsets.front();
  if (old.map.width > 1) piece.column_step = moved(first + old.column_step) - piece.offsets.front();
  for (std::size_t c = 0; c < old.offsets.size(); ++c) {
    for (std::int64_t y = 0; y < old.map.height; ++y) {
      for (std::int64_t x = 0; x < old.map.width; ++x) {
        if (moved(old.offsets[c] + y * old.row_step + x * old.column_step) !=
            piece.offsets[c] + y * piece.row_step + x * piece.column_step)
          return false;
      }
    }
  }
  return true;
}

}  // namespace

PlanValues::PlanValues(const Graph& graph, Plan& plan)
    : PlanBuilder(plan, graph.values.size()),
      graph_(graph),
      plan_(plan),
      maps_(graph.values.size()),
      placed_(graph.values.size()),
      has_tensor_(graph.values.size(), false),
      tensor_storage_(graph.values.size(), kNone),
      readers_(graph.values.size()),
      is_output_(graph.values.size(), false),
      is_dynamic_(graph.values.size(), false) {
  for (const Node& node : graph.nodes) {
    for (const int input : node.inputs) {
      if (input != kAbsent) readers_[static_cast<std::size_t>(input)].push_back(&node);
    }
  }
  for (const int output : graph.outputs) is_output_[static_cast<std::size_t>(output)] = true;
  find_dynamic_nodes();
}

void PlanValues::find_dynamic_nodes() {
  for (const Node& node : graph_.nodes) {
    const auto varies = [&](int output) { return output != kAbsent && !value(output).is_typed; };
    const auto is_made_here = [&](int input) { return input != kAbsent && is_dynamic(input); };
    if (std::ranges::none_of(node.outputs, varies) && std::ranges::none_of(node.inputs, is_made_here))
      continue;
    plan_.dynamic_nodes.push_back(&node);
    for (const int output : node.outputs) {
      if (output != kAbsent) is_dynamic_[static_cast<std::size_t>(output)] = true;
    }
    for (const int input : node.inputs) {
      if (input != kAbsent) is_output_[static_cast<std::size_t>(input)] = true;
    }
  }
}

bool PlanValues::is_map_type(int number) const {
  if (number == kAbsent || !value(number).is_typed) return false;
  const TensorType& type = value(number).type;
  constexpr std::int64_t kMostSide = 1 << 15, kMostChannels = 1 << 14;
  return type.kind == Kind::real && type.shape.size() == 4 && type.shape[0] == 1 && type.shape[1] > 0 &&
         type.shape[1] <= kMostChannels && std::min(type.shape[2], type.shape[3]) > 0 &&
         std::max(type.shape[2], type.shape[3]) <= kMostSide;
}

const Node* PlanValues::only_reader(int number) const {
  return readers(number).size() == 1 && !is_output(number) ? readers(number)[0] : nullptr;
}

void PlanValues::add_tensor(int number) {
  has_tensor_[static_cast<std::size_t>(number)] = true;
  plan_.tensors.emplace_back(number, value(number).type);
}

// Gives a tensor of real numbers a storage, whose planes lie as its elements do.
int PlanValues::add_shared_tensor(int number, int pool) {
  const TensorType& type = value(number).type;
  const bool is_picture = is_map_type(number);
  const bool channels_last = is_picture && moves_channels_first(number);
  Map map = channels_last ? new_map(side(number, 1), side(number, 2), static_cast<std::size_t>(type.shape[3]),
                                    side(number, 3))
            : is_picture
                ? new_map(side(number, 2), side(number, 3), static_cast<std::size_t>(type.shape[1]), 1)
                : new_map(1, static_cast<int>(elements_of(type.shape)), 1, 1);
  const int made = map.channels[0].storage;
  storage(made).pool = pool;
  has_tensor_[static_cast<std::size_t>(number)] = true;
  tensor_storage_[static_cast<std::size_t>(number)] = made;
  plan_.shared_tensors.emplace_back(number, made);
  if (is_picture) tensor_maps_[number] = std::move(map);
  return made;
}

void PlanValues::add_input(int number) {
  if (!is_map_type(number)) return add_tensor(number);
  add_shared_tensor(number, kInputPool);
}

const Map* PlanValues::require_map(int number) {
  if (number == kAbsent || is_constant(number)) return nullptr;
  if (map_of(number)) return &*map_of(number);
  if (is_map_type(number) && placed_of(number)) require_tensor(number);
  if (!is_map_type(number) || !has_tensor_[static_cast<std::size_t>(number)] || is_channels_last(number))
    return nullptr;
  pack(number, number);
  return &*map_of(number);
}

// Copies a tensor, or channels of one that is a map, to planes that may get ends.
void PlanValues::pack(int from, int to) {
  auto step = std::make_unique<PackStep>();
  step->value = from;
  std::vector<Read> reads;
  std::vector<int> values_read;
  if (const auto shared = tensor_maps_.find(from); shared != tensor_maps_.end()) {
    step->in = InputRows(shared->second, false);
    reads = reads_of(shared->second, false);
  } else {
    values_read.push_back(from);
  }
  map_of(to) = add_map_step(std::move(step), side(to, 2), side(to, 3), static_cast<std::size_t>(side(to, 1)),
                            std::move(reads), 1, std::move(values_read));
}

// Whether channels are the blocks of 16 that they seem to be.
bool PlanValues::is_in_blocks(const Map& map) const {
  if (map.row_step != 1 || map.column_step != 1) return false;
  for (std::size_t c = 0; c < map.channels.size(); ++c) {
    const ChannelPlace& place = map.channels[c];
    const ChannelPlace& first = map.channels[c / kBlock * kBlock];
    const Storage& s = storage(place.storage);
    if (s.lanes != kBlock || place.x != 0 || place.y != 0 || place.storage != first.storage ||
        first.channel % kBlock != 0 || place.channel != first.channel + static_cast<int>(c % kBlock))
      return false;
  }
  return true;
}

const Map* PlanValues::require_blocks(int number) {
  const Map* const map = require_map(number);
  if (map && !is_in_blocks(*map)) map_of(number) = in_blocks(*map);
  return map ? &*map_of(number) : nullptr;
}

Map PlanValues::in_blocks(const Map& map) {
  if (is_in_blocks(map)) return map;
  auto step = std::make_unique<CopyStep>();
  step->in = InputRows(map, false);
  return add_map_step(std::move(step), map.height, map.width, map.channels.size(), reads_of(map, true));
}

void PlanValues::require_output(int number) {
  require_tensor(number);
  const int shared = tensor_storage_[static_cast<std::size_t>(number)];
  if (shared != kNone) storage(shared).is_result = true;
}

namespace {

// Parts of a piece that come from one storage each, so that what makes them need not be one chain.
Pieces by_storage(const Piece& piece) {
  std::map<int, Piece> parts;
  for (std::size_t c = 0; c < piece.offsets.size(); ++c) {
    const ChannelPlace& place = piece.map.channels[c];
    const auto [part, is_new] = parts.try_emplace(place.storage, piece);
    if (is_new) {
      part->second.map.channels.clear();
      part->second.offsets.clear();
    }
    part->second.map.channels.push_back(place);
    part->second.offsets.push_back(piece.offsets[c]);
  }
  Pieces all;
  for (auto& [storage, part] : parts) all.push_back(std::move(part));
  return all;
}

}  // namespace

void PlanValues::require_tensor(int number) {
  if (number == kAbsent || is_constant(number) || has_tensor_[static_cast<std::size_t>(number)]) return;
  Pieces pieces;
  for (const Piece& piece : *placed_of(number)) {
    for (Piece& part : by_storage(piece)) pieces.push_back(std::move(part));
  }
  const int target = add_shared_tensor(number, kArenaPool);
  const bool on_device =
      std::ranges::all_of(pieces, [&](const Piece& one) { return suits_devices(one.map); });
  for (const Piece& piece : pieces) {
    auto step = std::make_unique<PlaceStep>();
    step->in = InputRows(piece.map, false);
    step->storage = target;
    step->offsets = piece.offsets;
    step->row_step = piece.row_step;
    step->column_step = piece.column_step;
    Planned planned{nullptr, piece.map.height, reads_of(piece.map, true), {}, target, {}};
    planned.suits_devices = on_device;
    add_step(std::move(step), std::move(planned));
  }
}

const std::optional<Pieces>& PlanValues::placed_of(int number) {
  static const std::optional<Pieces> kNowhere;
  if (number == kAbsent || is_constant(number)) return kNowhere;
  std::optional<Pieces>& placed = placed_[static_cast<std::size_t>(number)];
  const auto i = static_cast<std::size_t>(number);
  const bool has_own_tensor = has_tensor_[i] && tensor_storage_[i] == kNone;
  if (placed || !map_of(number) || has_own_tensor || tensor_maps_.contains(number)) return placed;
  const Map& map = *map_of(number);
  Piece piece{map, {}, map.width, 1};
  for (std::size_t c = 0; c < map.channels.size(); ++c)
    piece.offsets.push_back(static_cast<std::int64_t>(c) * map.height * map.width);
  placed = Pieces{piece};
  return placed;
}

bool PlanValues::compile_movement(const Node& node) {
  if (node.op == "Transpose" && is_channels_last(node.inputs[0])) {
    pack(node.inputs[0], node.outputs[0]);
    return true;
  }
  const bool is_reshape = reshapes(node);
  if (!is_reshape && node.op != "Transpose" && node.op != "Concat") return false;
  const int in = node.inputs[0], out = node.outputs[0];
  const std::size_t count = is_reshape ? 1 : node.inputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!placed_of(node.inputs[i])) return false;
  }
  if (value(out).type.kind != Kind::real) return false;
  Pieces pieces;
  if (node.op != "Concat") pieces = *placed_of(in);
  if (node.op == "Transpose") {
    const Shape &from = value(in).type.shape, &to = value(out).type.shape;
    std::vector<std::int64_t> order = node.integers("perm");
    if (order.empty()) {
      for (std::size_t i = from.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    }
    std::vector<std::int64_t> steps(from.size());  // of an axis of the input, in the output
    std::int64_t step = 1;
    for (std::size_t i = to.size(); i-- > 0; step *= to[i]) steps[static_cast<std::size_t>(order[i])] = step;
    const auto moved = [&](std::int64_t at) {
      std::int64_t target = 0;
      for (std::size_t axis = from.size(); axis-- > 0; at /= from[axis])
        target += at % from[axis] * steps[axis];
      return target;
    };
    if (!std::ranges::all_of(pieces, [&](Piece& piece) { return move_piece(piece, moved); })) return false;
  } else if (node.op == "Concat") {
    const Shape& whole = value(out).type.shape;
    const std::size_t axis = Call::axis(node.integer("axis", 1), whole.size());
    std::int64_t behind = 1, before = 0;
    for (std::size_t i = axis + 1; i < whole.size(); ++i) behind *= whole[i];
    for (const int one : node.inputs) {
      const std::int64_t length = value(one).type.shape[axis] * behind;
      const auto moved = [&](std::int64_t at) {
        return at / length * whole[axis] * behind + before + at % length;
      };
      for (Piece piece : *placed_of(one)) {
        if (!move_piece(piece, moved)) return false;
        pieces.push_back(std::move(piece));
      }
      before += length;
    }
  }
  set_placed(out, std::move(pieces));
  return true;
}

// A step that reads values as tensors.
Planned PlanValues::reads_of_tensors(const std::vector<int>& numbers) {
  Planned planned;
  for (const int number : numbers) {
    require_tensor(number);
    if (number == kAbsent || is_constant(number)) continue;
    if (const int shared = tensor_storage_[static_cast<std::size_t>(number)]; shared != kNone) {
      planned.reads.push_back({shared, false});
    } else {
      planned.values_read.push_back(number);
    }
  }
  return planned;
}

void PlanValues::add_dynamic_step(std::int64_t memory_limit) {
  std::vector<int> inputs;
  for (const Node* const node : plan_.dynamic_nodes) {
    std::ranges::copy_if(node->inputs, std::back_inserter(inputs),
                         [&](int input) { return input != kAbsent && !is_dynamic(input); });
  }
  Planned planned = reads_of_tensors(inputs);
  add_step(std::make_unique<DynamicStep>(graph_, plan_.dynamic_nodes, memory_limit), std::move(planned));
}

void PlanValues::add_node_step(const Node& node) {
  Planned planned = reads_of_tensors(node.inputs);
  for (const int output : node.outputs) {
    if (output == kAbsent) continue;
    add_tensor(output);
    planned.values_written.push_back(output);
  }
  std::unique_ptr<Step> reshape = reshape_of(node);
  if (reshape) return add_step(std::move(reshape), std::move(planned));
  auto step = std::make_unique<NodeStep>(graph_, node);
  planned.height = step->parts();
  add_step(std::move(step), std::move(planned));
}

// Null unless the node gives a tensor that it alone reads another shape.
std::unique_ptr<Step> PlanValues::reshape_of(const Node& node) const {
  const int in = node.inputs.empty() ? kAbsent : node.inputs[0];
  if (!reshapes(node) || is_constant(in) || !value(in).is_typed || only_reader(in) != &node ||
      tensor_storage_[static_cast<std::size_t>(in)] != kNone ||
      std::ranges::any_of(graph_.inputs, [&](const GraphInput& input) { return input.value == in; }))
    return nullptr;
  auto step = std::make_unique<ReshapeStep>();
  step->from = in;
  step->to = node.outputs[0];
  step->from_shape = value(in).type.shape;
  step->to_shape = value(step->to).type.shape;
  return step;
}

// Whether all that read a value bring its last axis to the second place.
bool PlanValues::moves_channels_first(int number) const {
  return !readers(number).empty() && std::ranges::all_of(readers(number), [&](const Node* node) {
    return node->op == "Transpose" && node->integers("perm") == std::vector<std::int64_t>{0, 3, 1, 2};
  });
}

bool PlanValues::is_channels_last(int number) const {
  const auto shared = tensor_maps_.find(number);
  return shared != tensor_maps_.end() && storage(shared->second.channels[0].storage).lanes > 1;
}

}  // namespace sightline::network
