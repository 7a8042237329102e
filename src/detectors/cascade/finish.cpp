// Stage `finish`: evaluates a frame's remaining windows one by one.
#include <algorithm>

#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/scan_scalar.hpp"

namespace sightline::cascade {
namespace {

template <typename Window>
void run(const PackedCascade& cascade, const std::byte* integrals, std::span<const Survivor> survivors,
         int first_stage, std::vector<Candidate>& candidates) {
  const Layout& layout = cascade.layout();
  const int last = static_cast<int>(cascade.model().stages.size()) - 1;
  const double threshold = cascade.model().stages[last].threshold;
  for (const Survivor& s : survivors) {
    const Level& level = layout.levels[s.level];
    const std::ptrdiff_t corner =
        level.origin + static_cast<std::ptrdiff_t>(s.y) * layout.stride + layout.column(level.step, s.x);
    const Window window(cascade, level.step, integrals, corner);
    if (!window.passes_all(first_stage, last)) continue;
    // The last stage's sum is the score, so it runs even where all have.
    const double sum = window.stage_sum(last);
    if (sum >= threshold) candidates.push_back({s, sum - threshold});
  }
}

}  // namespace

void finish(const PackedCascade& cascade, const std::byte* integrals, std::span<const Survivor> survivors,
            int first_stage, std::vector<Candidate>& candidates) {
  if (!cascade.is_packed()) {
    reference::finish(cascade.model(), cascade.layout(), integrals, survivors, first_stage, candidates);
  } else if (cascade.model().kind == FeatureKind::haar) {
    run<HaarScalar>(cascade, integrals, survivors, first_stage, candidates);
  } else {
    run<LbpScalar>(cascade, integrals, survivors, first_stage, candidates);
  }
}

}  // namespace sightline::cascade
