// The WaldBoost detector through the pipeline: every schedule finds what the detector finds alone.
#include "detectors/waldboost/detector.hpp"
#include "support/same_boxes.hpp"
#include "support/waldboost.hpp"

namespace sightline::pipeline {
namespace {

class WaldboostSchedules : public test::SameBoxes {
 protected:
  WaldboostSchedules() {
    waldboost::Options options;
    options.scale_step = 1.2;
    options.threshold = options.window_threshold = -1e6;
    options.border = 3;
    search_with(
        std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30), options));
  }
};

TEST_F(WaldboostSchedules, AllFindTheSame) {
  const std::unique_ptr<DeviceStages> stages = make_stages();
  if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  for (const std::string_view name : schedule_names())
    expect_the_same(stages.get(), named_schedule(name, *detector_, stages.get(), 2));
  for (const char* map : {"pyramid=cpu", "scan=cpu"}) expect_the_same(stages.get(), map);
}

}  // namespace
}  // namespace sightline::pipeline
