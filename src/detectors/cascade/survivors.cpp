#include "detectors/cascade/survivors.hpp"

namespace sightline::cascade {

void count_survivors(const CascadeDetector& detector, PictureView picture, StageSurvivors& counts) {
  const int stages = detector.tunable()->largest;
  counts.passed.resize(static_cast<std::size_t>(stages));
  const auto workspace = detector.make_workspace();
  auto& own = static_cast<CascadeWorkspace&>(*workspace);
  for (int stage = 1; stage <= stages; ++stage) {
    own.tuned = stage;
    if (!detector.prepare(own, picture)) return;
    if (stage == 1) {  // images and integrals serve all stages
      for (const StageIndex index : {kPyramid, kIntegral}) detector.run_stage(index, own);
      for (const Level& level : own.layout.levels)
        counts.windows += static_cast<std::int64_t>(level.windows.width) * level.windows.height;
    }
    detector.run_stage(kScan, own);
    counts.passed[static_cast<std::size_t>(stage) - 1] += static_cast<std::int64_t>(own.survivors.size());
  }
}

}  // namespace sightline::cascade
