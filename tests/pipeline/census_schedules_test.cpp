// The census detector through the pipeline: every schedule finds what the detector finds alone.
#include <gtest/gtest.h>

#include "census/detector.hpp"
#include "kernels/census_model.hpp"
#include "pipeline/planner.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

class KeepBoxes : public Sink {
 public:
  void accept(const media::Frame&, const FrameResult& result) override {
    EXPECT_EQ(result.status, FrameStatus::ok) << result.message;
    objects.push_back(result.objects);
  }
  std::vector<std::vector<Detection>> objects;
};

class CensusSchedules : public testing::Test {
 protected:
  CensusSchedules() {
    census::Options options;
    options.scale_step = 1.2;
    options.threshold = options.window_threshold = -1e6;
    options.border = 3;
    detector_ =
        std::make_unique<census::CensusDetector>(census::drawn_model(3, {{4, 9, 30}, {24, 24}, 2}), options);
    const auto workspace = detector_->make_workspace();
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const Image<std::uint8_t> picture = cascade::make_picture({150, 120}, seed);
      frames_.push_back(media::frame_from_gray(picture.view()));
      expected_.push_back(detect(*detector_, *workspace, picture.view()));
      EXPECT_FALSE(expected_.back().empty());
    }
  }

  void expect_the_same(DeviceStages* stages, const Schedule& schedule) {
    SCOPED_TRACE(describe(schedule, *detector_));
    Pipeline pipeline(*detector_, stages, schedule);
    constexpr std::size_t kFrames = 12;
    MemorySource source(frames_, kFrames);
    KeepBoxes kept;
    const RunReport report = pipeline.run({&source, "test", {&kept}, {}});
    EXPECT_EQ(report.retried, 0);
    ASSERT_EQ(kept.objects.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i)
      EXPECT_EQ(kept.objects[i], expected_[i % expected_.size()]) << "frame " << i;
  }

  std::unique_ptr<census::CensusDetector> detector_;
  std::vector<media::Frame> frames_;
  std::vector<std::vector<Detection>> expected_;
};

TEST_F(CensusSchedules, AllFindTheSame) {
  std::unique_ptr<DeviceStages> stages;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (!stages && device.correctly_rounded_divide_sqrt && device.compiler_available)
      stages = detector_->make_device_stages({device, 0, ""});
  }
  if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  for (const std::string_view name : schedule_names())
    expect_the_same(stages.get(), named_schedule(name, *detector_, stages.get(), 2));
  for (const char* map : {"pyramid=cpu", "scan=cpu", "early_stages=2"}) {
    ScheduleRequest request;
    request.name = "gpu";
    request.map = map;
    expect_the_same(stages.get(), resolve(request, *detector_, stages.get(), 2));
  }
}

}  // namespace
}  // namespace sightline::pipeline
