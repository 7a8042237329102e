#include "network/plan/fuse.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "network/plan/planned_node.hpp"
#include "network/plan/rewrite.hpp"

namespace sightline::nn {
namespace {

/// Sets of nodes that grow together.
class Groups {
 public:
  explicit Groups(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }
  int of(int node) {
    int& parent = parent_[static_cast<std::size_t>(node)];
    return parent == node ? node : parent = of(parent);
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(of(a))] = of(b); }

 private:
  std::vector<int> parent_;
};

class WavePlan {
 public:
  WavePlan(Rewritten rewritten, const RunsAlone& runs_alone)
      : graph_(std::move(rewritten.graph)),
        tensors_(std::move(rewritten.tensors)),
        is_alone_(graph_.nodes().size(), false),
        wave_(graph_.nodes().size(), kNone),
        groups_(graph_.nodes().size()) {
    for (std::size_t n = 0; n < is_alone_.size(); ++n) {
      const int node = static_cast<int>(n);
      is_alone_[n] = runs_alone && runs_alone(graph_, tensors_, node);
    }
  }

  Fusion plan() {
    for (const int node : needed_nodes(graph_)) {
      if (is_view(graph_.node(node).primitive) || comes_last(node)) continue;
      place(node);
      placed_.push_back(node);
    }
    for (const int node : placed_) join_neighbours(node);
    Fusion fusion{std::move(graph_), std::move(tensors_), std::move(wave_), {}, std::move(is_alone_), 0, 0};
    fusion.group.assign(fusion.wave.size(), kNone);
    std::map<int, int> numbers;
    for (const int node : placed_) {
      fusion.group[static_cast<std::size_t>(node)] =
          numbers.try_emplace(groups_.of(node), static_cast<int>(numbers.size())).first->second;
      fusion.waves = std::max(fusion.waves, fusion.wave[static_cast<std::size_t>(node)]);
    }
    fusion.groups = static_cast<int>(numbers.size());
    return fusion;
  }

 private:
  using Place = std::pair<int, std::int64_t>;  // wave and points

  const PlannedTensor& planned(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)]; }
  const Layout& layout_of(int node) const { return planned(graph_.node(node).outputs[0]).layout; }
  bool comes_last(int node) const { return planned(graph_.node(node).outputs[0]).is_last; }
  bool is_alone(int node) const { return node != kNone && is_alone_[static_cast<std::size_t>(node)]; }

  // The wave of a stored tensor; 0: known before the first one.
  int wave_of(int tensor) const {
    const int maker = graph_.tensor(tensor).maker;
    return maker == kNone ? 0 : wave_[static_cast<std::size_t>(maker)];
  }

  // Stored tensors that a node reads.
  std::vector<Source> sources_of(int node) const {
    std::vector<Source> all;
    for (const int input : graph_.node(node).inputs)
      all.insert(all.end(), planned(input).sources.begin(), planned(input).sources.end());
    return all;
  }

  void place(int node) {
    int latest = 0;
    for (const Source& source : sources_of(node)) latest = std::max(latest, wave_of(source.tensor));
    wave_[static_cast<std::size_t>(node)] =
        latest == 0 || is_alone(node) || !reads_at_points(node, latest) ? latest + 1 : latest;
    if (wave_[static_cast<std::size_t>(node)] != latest) return;
    for (const Source& source : sources_of(node)) {
      if (wave_of(source.tensor) == latest) groups_.join(node, graph_.tensor(source.tensor).maker);
    }
  }

  // Whether a node reads all that a wave made at its own points alone.
  bool reads_at_points(int node, int wave) const {
    const PlannedNode reader{graph_, tensors_, graph_.node(node)};
    for (std::size_t i = 0; i < reader.node.inputs.size(); ++i) {
      const bool at_points = reader.reads_at_points(i);
      for (const Source& source : planned(reader.node.inputs[i]).sources) {
        const bool at_same_point =
            at_points && source.is_aligned && !is_alone(graph_.tensor(source.tensor).maker);
        if (wave_of(source.tensor) == wave && !at_same_point) return false;
      }
    }
    return true;
  }

  // Groups of one wave and domain that share an operand or a reader are one.
  void join_neighbours(int node) {
    std::map<Place, int> makers;
    for (const Source& source : sources_of(node)) {
      if (!is_alone(node))
        groups_.join(node, readers_[source.tensor].try_emplace(place_of(node), node).first->second);
      const int maker = graph_.tensor(source.tensor).maker;
      if (maker != kNone && !is_alone(maker))
        groups_.join(maker, makers.try_emplace(place_of(maker), maker).first->second);
    }
  }

  Place place_of(int node) const { return {wave_[static_cast<std::size_t>(node)], layout_of(node).points}; }

  Graph graph_;
  std::vector<PlannedTensor> tensors_;
  std::vector<bool> is_alone_;
  std::vector<int> wave_;
  std::vector<int> placed_;
  std::map<int, std::map<Place, int>> readers_;  ///< one by stored tensor and place
  Groups groups_;
};

}  // namespace

Fusion fuse(const Graph& graph, const RunsAlone& runs_alone) {
  return WavePlan(rewritten(graph), runs_alone).plan();
}

}  // namespace sightline::nn
