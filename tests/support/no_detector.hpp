#pragma once
/// A detector that finds nothing in no time, to measure the pipeline's own cost.

#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "detection/detector.hpp"

namespace sightline::test {

/// Five stages; each runs a loop over threads, as real ones do, where `loops` is set.
class NoDetector : public Detector {
 public:
  explicit NoDetector(bool loops = false) : loops_(loops) {}
  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Workspace>(); }
  bool prepare(Workspace&, PictureView, Partition) const override { return true; }
  void run_stage(std::size_t, Workspace& workspace) const override {
    if (loops_)
      parallel_for_isolated(
          4, [](int) {}, &workspace.work);
  }
  std::vector<Detection> take_detections(Workspace&) const override { return {}; }

 private:
  bool loops_;
  DetectorInfo info_;
  std::vector<std::string_view> resources_{"frame", "images", "responses", "features", "candidates", "boxes"};
  std::vector<StageInfo> stages_{{"pyramid", {0}, {1}},
                                 {"filter", {1}, {2}},
                                 {"histogram", {2}, {3}},
                                 {"classify", {3}, {4}},
                                 {"group", {4}, {5}}};
};

}  // namespace sightline::test
