// Two detectors on the same frames, through the pipeline: under every schedule, on one device and on two,
// each finds what it finds alone.
#include "detection/composite_detector.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/waldboost/detector.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/filterbank.hpp"
#include "support/same_boxes.hpp"
#include "support/waldboost.hpp"

namespace sightline::pipeline {
namespace {

class CombinedSchedules : public testing::Test, public test::SameBoxes {
 protected:
  CombinedSchedules() {
    waldboost::Options faces;
    faces.scale_step = 1.2;
    faces.threshold = faces.window_threshold = -1e6;
    filterbank::Options people;
    people.scale_step = 1.5;
    people.threshold = -10;
    std::vector<CompositeBranch> both;
    both.emplace_back(
        std::make_unique<filterbank::FilterbankDetector>(sightline::test::random_model(5, 3), people));
    both.emplace_back(
        std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30), faces));
    detector_ = std::make_unique<CompositeDetector>(std::move(both));
    // The third is too small for people of the model's size.
    for (const Size size : {Size{130, 110}, {130, 110}, {30, 28}, {130, 110}, {97, 120}})
      add_frame(sightline::test::random_picture(size, static_cast<unsigned>(frames_.size()) + 1));
  }
};

TEST_F(CombinedSchedules, AllFindTheSame) {
  std::vector<std::unique_ptr<DeviceStages>> stages;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (!stages.empty() || !device.correctly_rounded_divide_sqrt || !device.compiler_available) continue;
    for (int i = 0; i < 2; ++i) stages.push_back(make_device_stages(*detector_, {device, 0, "", {}}));
  }
  if (stages.empty()) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  const Devices one(stages.front().get());
  const Devices two({stages[0].get(), stages[1].get()});
  for (const std::string_view name : schedule_names()) {
    expect_the_same(one, named_schedule(name, *detector_, one, 2));
    expect_the_same(two, named_schedule(name, *detector_, two, 2));
  }
  // The device has one of them, the CPU the other.
  for (const auto& [first, second] : {std::pair{0, 1}, {4, 5}}) {
    Schedule schedule = test::on_cpu(3);
    schedule.on_device.set(static_cast<std::size_t>(first)).set(static_cast<std::size_t>(second));
    expect_the_same(one, schedule);
  }
}

// A detector's conflict has the numbers that its stages have among the stages of all detectors.
TEST_F(CombinedSchedules, ConflictsNameStagesOfTheWhole) {
  std::vector<CompositeBranch> both;
  both.emplace_back(std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30),
                                                                   waldboost::Options()));
  both.emplace_back(std::make_unique<cascade::CascadeDetector>(cascade::make_model(cascade::kShapes[0]),
                                                               cascade::Options()));
  detector_ = std::make_unique<CompositeDetector>(std::move(both));
  const std::unique_ptr<DeviceStages> stages = make_stages();
  if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  const auto number_of = [&](const std::string& stage) {
    const auto has_name = [&](const StageInfo& info) { return info.name == stage; };
    return static_cast<std::size_t>(std::ranges::find_if(detector_->stages(), has_name) -
                                    detector_->stages().begin());
  };
  const std::string& second = detector_->info().labels[1];
  const std::size_t scan = number_of(second + ".scan"), finish = number_of(second + ".finish");
  ASSERT_LT(finish, detector_->stages().size());
  EXPECT_EQ(stages->check(StageSet().set(finish)),
            (MappingConflict{MappingConflict::Kind::input, finish, scan}));
  EXPECT_FALSE(stages->check(StageSet().set(scan).set(finish)));
}

}  // namespace
}  // namespace sightline::pipeline
