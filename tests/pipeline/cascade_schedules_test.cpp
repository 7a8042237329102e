// Cascades, WaldBoost and census detectors through the pipeline: every schedule, and every number of stages
// that a cascade's `scan` runs, finds what the detector finds alone.
#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/opencl/stages.hpp"
#include "detectors/census/detector.hpp"
#include "detectors/waldboost/detector.hpp"
#include "kernels/census_model.hpp"
#include "support/same_boxes.hpp"
#include "support/waldboost.hpp"

namespace sightline::pipeline {
namespace {

class CascadeSchedules : public testing::Test, public test::SameBoxes {
 protected:
  CascadeSchedules() {
    cascade::Options options;
    options.min_neighbors = 0;
    search_with(
        std::make_unique<cascade::CascadeDetector>(cascade::make_model(cascade::kShapes[0]), options));
  }

  void SetUp() override {
    stages_ = make_stages();
    if (!stages_) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
    pipeline_ = std::make_unique<Pipeline>(*detector_, stages_.get(), Schedule{});
  }

  void expect_the_same() const { SameBoxes::expect_the_same(*pipeline_); }

  std::unique_ptr<DeviceStages> stages_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(CascadeSchedules, NamedOnesFindTheSame) {
  for (const std::string_view name : schedule_names()) {
    pipeline_->set_schedule(named_schedule(name, *detector_, stages_.get(), pipeline_->threads()));
    expect_the_same();
  }
}

TEST_F(CascadeSchedules, EveryNumberOfScanStagesFindsTheSame) {
  const std::string maps[] = {"finish=cpu", "scan=cpu,finish=cpu", "pyramid=cpu,finish=cpu", "group=cpu"};
  for (const std::string& map : maps) {
    for (int k = 1; k <= detector_->tunable()->largest; ++k) {
      ScheduleRequest request;
      request.name = "gpu";
      request.map = map + ",early_stages=" + std::to_string(k);
      const Schedule schedule = resolve(request, *detector_, stages_.get(), 2);
      EXPECT_EQ(schedule.tuned, k);
      pipeline_->set_schedule(schedule);
      expect_the_same();
    }
  }
}

TEST_F(CascadeSchedules, WhatIsTunedIsChecked) {
  for (const char* map :
       {"early_stages=0", "early_stages=7", "early_stages=2x", "early_stages=", "early_stages=cpu"}) {
    ScheduleRequest request;
    request.name = "gpu";
    request.map = map;
    EXPECT_THROW(resolve(request, *detector_, stages_.get(), 2), Error) << map;
  }
  ScheduleRequest request;
  request.map = "early_stages=3";
  EXPECT_EQ(describe(resolve(request, *detector_, nullptr, 2), *detector_),
            "pyramid=cpu integral=cpu scan=cpu finish=cpu group=cpu early_stages=3");
}

TEST_F(CascadeSchedules, AutoTriesWhatCanBeTunedAndFindsTheSame) {
  PlanOptions options;
  options.trial_seconds = 0.01;
  options.trials = 2;
  options.in_flight = 2;
  const Planned planned = plan_schedule(*pipeline_, *detector_, stages_.get(), frames_, options);
  std::vector<int> tried;
  for (const Alternative& a : planned.alternatives) {
    if (a.achieved_fps > 0) tried.push_back(a.schedule.tuned);
  }
  for (const int choice : detector_->tunable()->choices) EXPECT_THAT(tried, testing::Contains(choice));
  expect_the_same();
}

class FamilySchedules : public testing::Test, public test::SameBoxes {
 protected:
  template <typename Options>
  static Options options_of_all() {
    Options options;
    options.scale_step = 1.2;
    options.threshold = options.window_threshold = -1e6;
    options.border = 3;
    return options;
  }
  void expect_all_the_same(std::unique_ptr<Detector> detector, const std::vector<const char*>& maps) {
    search_with(std::move(detector));
    const std::unique_ptr<DeviceStages> stages = make_stages();
    if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
    for (const std::string_view name : schedule_names())
      expect_the_same(stages.get(), named_schedule(name, *detector_, stages.get(), 2));
    for (const char* map : maps) expect_the_same(stages.get(), map);
  }
};

TEST_F(FamilySchedules, CensusFindsTheSame) {
  expect_all_the_same(
      std::make_unique<census::CensusDetector>(census::drawn_model(3, {{4, 9, 30}, {24, 24}, 2}),
                                               options_of_all<census::Options>()),
      {"pyramid=cpu", "scan=cpu", "early_stages=2"});
}

TEST_F(FamilySchedules, WaldboostFindsTheSame) {
  expect_all_the_same(std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30),
                                                                     options_of_all<waldboost::Options>()),
                      {"pyramid=cpu", "scan=cpu"});
}

}  // namespace
}  // namespace sightline::pipeline
