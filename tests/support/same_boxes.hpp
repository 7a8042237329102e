#pragma once
// Runs a detector through the pipeline, and expects what it finds alone.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "pipeline/planning/planner.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/cascade.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {

/// The detector's stages on a device whose results are exact; null where there is none.
inline std::unique_ptr<DeviceStages> stages_of(const Detector& detector) {
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (device.correctly_rounded_divide_sqrt && device.compiler_available)
      return make_device_stages(detector, {device, 0, "", {}});
  }
  return nullptr;
}

/// A detector with some frames, and what it finds in each by itself.
class SameBoxes {
 public:
  /// Pictures of 150x120, in each of which the detector must find something.
  void search_with(std::unique_ptr<Detector> detector) {
    detector_ = std::move(detector);
    for (unsigned seed = 1; seed <= 5; ++seed) {
      add_frame(cascade::make_picture({150, 120}, seed));
      EXPECT_FALSE(expected_.back().empty());
    }
  }
  void add_frame(const Image<std::uint8_t>& picture) { add_frame(picture, frame_from_gray(picture.view())); }
  /// A frame in which the detector must find what it finds in the picture.
  void add_frame(const Image<std::uint8_t>& picture, Frame frame) {
    frames_.push_back(std::move(frame));
    expected_.push_back(detect(*detector_, *detector_->make_workspace(), picture.view()));
  }

  /// The detector's stages on a device whose results are exact; null where there is none.
  std::unique_ptr<DeviceStages> make_stages() const { return stages_of(*detector_); }

  void expect_the_same(Pipeline& pipeline) const {
    SCOPED_TRACE(describe(pipeline.schedule(), *detector_));
    const std::size_t count = 2 * frames_.size();
    MemorySource source(frames_, static_cast<std::int64_t>(count));
    Collector kept;
    const RunReport report = run(pipeline, source, kept);
    EXPECT_EQ(report.retried, 0);
    EXPECT_EQ(report.failed, 0) << report.first_failure;
    EXPECT_FALSE(pipeline.device_lost());
    ASSERT_EQ(kept.results.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(kept.results[i].frame, static_cast<std::int64_t>(i) + 1);
      ASSERT_EQ(kept.results[i].objects, expected_[i % expected_.size()]) << "frame " << i;
    }
  }
  void expect_the_same(const Devices& devices, const Schedule& schedule,
                       const PipelineOptions& options = {}) const {
    Pipeline pipeline(*detector_, devices, schedule, options);
    expect_the_same(pipeline);
  }
  /// Schedule `gpu` with changes, as --map takes them.
  void expect_the_same(const Devices& devices, const char* map) const {
    ScheduleRequest request;
    request.name = "gpu";
    request.map = map;
    expect_the_same(devices, resolve(request, *detector_, devices, 2));
  }

  std::unique_ptr<Detector> detector_;
  std::vector<Frame> frames_;
  std::vector<std::vector<Detection>> expected_;  ///< by frame
};

}  // namespace sightline::pipeline::test
