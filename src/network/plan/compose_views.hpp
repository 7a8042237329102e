#pragma once
/// What tensors that views make show of stored ones, through any number of views.

#include <optional>
#include <vector>

#include "network/graph.hpp"
#include "network/view.hpp"

namespace sightline::nn {

/// Composes views from front to back. Thread-safety: as std::vector.
class ViewComposer {
 public:
  explicit ViewComposer(const Graph& graph) : graph_(graph) {}

  /// Adds the graph's next tensor, which is stored, or made by a view, or not known before it runs.
  void add_stored();
  void add_view();
  void add_unknown();
  /// By tensor; nothing where strides cannot express it.
  std::vector<std::optional<View>> views() && { return std::move(views_); }

 private:
  /// A tensor as a view of another one, as if that was stored.
  struct Relative {
    int base;
    View view;
  };
  std::optional<Relative> relative_to_join(const GraphNode& view, const Shape& shape) const;
  std::optional<View> resolved(const Relative& relative) const;

  const Graph& graph_;
  std::vector<std::optional<View>> views_;
  std::vector<std::optional<Relative>> relatives_;  ///< to joined tensors, as shuffles of channels are
};

}  // namespace sightline::nn
