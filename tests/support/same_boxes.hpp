#pragma once
// Runs a detector in the pipeline and expects the same boxes as without it.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "pipeline/planning/planner.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/cascade.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {

/// A detector with some frames, and its detections in each.
class SameBoxes : public testing::Test {
 protected:
  /// Pictures of 150x120, in each of which the detector must find something.
  void search_with(std::unique_ptr<Detector> detector) {
    detector_ = std::move(detector);
    for (unsigned seed = 1; seed <= 5; ++seed) {
      add_frame(cascade::make_picture({150, 120}, seed));
      EXPECT_FALSE(expected_.back().empty());
    }
  }
  void add_frame(const Image<std::uint8_t>& picture) {
    frames_.push_back(media::frame_from_gray(picture.view()));
    expected_.push_back(detect(*detector_, *detector_->make_workspace(), picture.view()));
  }

  /// The detector's stages on a device whose results are exact; null if there is none.
  std::unique_ptr<DeviceStages> make_stages() const {
    for (const opencl::DeviceInfo& device : opencl::list_devices()) {
      if (device.correctly_rounded_divide_sqrt && device.compiler_available)
        return make_device_stages(*detector_, {device, 0, "", {}});
    }
    return nullptr;
  }

  void expect_the_same(Pipeline& pipeline) const {
    SCOPED_TRACE(describe(pipeline.schedule(), *detector_));
    constexpr std::size_t kFrames = 16;
    MemorySource source(frames_, kFrames);
    Collector kept;
    const RunReport report = run(pipeline, source, kept);
    EXPECT_EQ(report.retried, 0);
    EXPECT_EQ(report.failed, 0) << report.first_failure;
    EXPECT_FALSE(pipeline.device_lost());
    ASSERT_EQ(kept.results.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i) {
      EXPECT_EQ(kept.results[i].status, FrameStatus::ok) << kept.results[i].message;
      EXPECT_EQ(kept.results[i].objects, expected_[i % expected_.size()]) << "frame " << i;
    }
  }
  void expect_the_same(const Devices& devices, const Schedule& schedule) const {
    Pipeline pipeline(*detector_, devices, schedule);
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
  std::vector<media::Frame> frames_;
  std::vector<std::vector<Detection>> expected_;  ///< expected detections by frame
};

}  // namespace sightline::pipeline::test
