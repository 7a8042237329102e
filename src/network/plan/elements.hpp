#pragma once
/// Loops over the elements of a tensor, as points and channels, and as elements of stored tensors.

#include "network/plan/storage.hpp"
#include "network/strided.hpp"
#include "network/view.hpp"

namespace sightline::nn {

/// Calls `f(point, channel, tensor, index)` for all elements of a shape: the number of its point, its number
/// within that point, and the number of the element of the stored tensor that a view shows. The view's axes
/// are expanded to the shape.
template <typename F>
void for_each_element(const Shape& shape, const Layout& layout, const View& view, const F& f) {
  const FactoredAxes channels = channels_of(layout);
  const std::size_t rank = shape.size();
  const std::size_t added = rank - view.runs[0].axes.size();
  std::int64_t begin = 0;  // of the run
  for (const Run& run : view.runs) {
    Shape part = shape;
    if (view.runs.size() > 1) part[view.axis + added] = side_of(run.axes[view.axis]);
    const FactoredAxes axes = expanded(run.axes, part);
    std::vector<std::vector<std::int64_t>> point(rank), channel(rank), index(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t first = view.runs.size() > 1 && i == view.axis + added ? begin : 0;
      const std::vector<std::int64_t> points = offsets_of(layout.axes[i]), within = offsets_of(channels[i]);
      point[i].assign(points.begin() + first, points.begin() + first + part[i]);
      channel[i].assign(within.begin() + first, within.begin() + first + part[i]);
      index[i] = offsets_of(axes[i]);
    }
    if (view.runs.size() > 1) begin += part[view.axis + added];
    // The last axis is the inner loop.
    const Shape outer(part.begin(), part.end() - (rank > 0 ? 1 : 0));
    for_each_index(outer, [&](const Shape& place) {
      std::int64_t p = 0, c = 0, e = run.offset;
      for (std::size_t i = 0; i < place.size(); ++i) {
        const auto at = static_cast<std::size_t>(place[i]);
        p += point[i][at];
        c += channel[i][at];
        e += index[i][at];
      }
      if (rank == 0) return f(p, c, run.tensor, e);
      for (std::size_t k = 0; k < index[rank - 1].size(); ++k)
        f(p + point[rank - 1][k], c + channel[rank - 1][k], run.tensor, e + index[rank - 1][k]);
    });
  }
}

}  // namespace sightline::nn
