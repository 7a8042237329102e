#include "cascade/survivors.hpp"

namespace sightline::cascade {

void count_survivors(const Model& model, const Options& options, PictureView picture,
                     StageSurvivors& counts) {
  counts.passed.resize(model.stages.size());
  for (std::size_t stage = 0; stage < model.stages.size(); ++stage) {
    Options first = options;
    first.scan_stages = static_cast<int>(stage) + 1;
    const CascadeDetector detector(model, first);
    const auto workspace = detector.make_workspace();
    if (!detector.prepare(*workspace, picture)) return;
    for (const StageIndex index : {kPyramid, kIntegral, kScan}) detector.run_stage(index, *workspace);
    const auto& own = static_cast<const CascadeWorkspace&>(*workspace);
    counts.passed[stage] += static_cast<std::int64_t>(own.survivors.size());
    if (stage > 0) continue;
    for (const Level& level : own.layout.levels)
      counts.windows += static_cast<std::int64_t>(level.windows.width) * level.windows.height;
  }
}

}  // namespace sightline::cascade
