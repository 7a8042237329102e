// The census detector through the pipeline: every schedule finds what the detector finds alone.
#include "detectors/census/detector.hpp"
#include "kernels/census_model.hpp"
#include "support/same_boxes.hpp"

namespace sightline::pipeline {
namespace {

class CensusSchedules : public test::SameBoxes {
 protected:
  CensusSchedules() {
    census::Options options;
    options.scale_step = 1.2;
    options.threshold = options.window_threshold = -1e6;
    options.border = 3;
    search_with(
        std::make_unique<census::CensusDetector>(census::drawn_model(3, {{4, 9, 30}, {24, 24}, 2}), options));
  }
};

TEST_F(CensusSchedules, AllFindTheSame) {
  const std::unique_ptr<DeviceStages> stages = make_stages();
  if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  for (const std::string_view name : schedule_names())
    expect_the_same(stages.get(), named_schedule(name, *detector_, stages.get(), 2));
  for (const char* map : {"pyramid=cpu", "scan=cpu", "early_stages=2"}) expect_the_same(stages.get(), map);
}

}  // namespace
}  // namespace sightline::pipeline
