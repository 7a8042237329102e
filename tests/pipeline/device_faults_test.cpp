// What happens when the device fails: every call to OpenCL in turn is made to fail, and no frame may be lost,
// out of order or wrong for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detectors/filterbank/detector.hpp"
#include "opencl/error.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/filterbank.hpp"
#include "support/log_capture.hpp"
#include "support/pipeline.hpp"
#include "support/thorough.hpp"
#include "support/variable.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::FilterbankDetector;
using filterbank::kClassify;
using filterbank::kFilter;
using filterbank::kHistogram;
using filterbank::kPyramid;
using opencl::fail_calls_for_test;
using sightline::test::random_model;
using sightline::test::random_picture;
using sightline::test::TempDir;
using test::Collector;
using ::testing::HasSubstr;

// Whether the ordered failure is still to come, within so many calls; it is used up by this.
bool failure_is_left(int calls = 5000) {
  for (int i = 0; i < calls; ++i) {
    try {
      opencl::check(0, "probe", "probe");
    } catch (const opencl::DeviceError&) {
      return true;
    }
  }
  return false;
}

class DeviceFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const opencl::DeviceInfo& device : opencl::list_devices()) {
      if (device.correctly_rounded_divide_sqrt && device.compiler_available && !chosen_)
        chosen_ = opencl::ChosenDevice{device, 0, "test"};
    }
    if (!chosen_) GTEST_SKIP() << "there is no usable OpenCL device here";
    cache_.set(folder_ / "cache");

    // Frames of changing size, so that buffers are made anew in the middle of the run; one is too small.
    const auto workspace = detector_.make_workspace();
    for (const Size size : {Size{70, 61}, {52, 75}, {52, 75}, {10, 10}, {70, 61}, {70, 61}}) {
      const auto picture = random_picture(size, static_cast<unsigned>(frames_.size()) + 1);
      frames_.push_back(frame_from_gray(picture.view()));
      expected_.push_back(detect(detector_, *workspace, picture.view()));
      ASSERT_EQ(expected_.back().empty(), size.width == 10);
    }
  }
  void TearDown() override { fail_calls_for_test("", 0); }

  static filterbank::Options options() {
    filterbank::Options options;
    options.scale_step = 1.5;
    options.threshold = -10;
    return options;
  }
  std::unique_ptr<DeviceStages> make_stages() const { return make_device_stages(detector_, *chosen_); }

  // Named ones, one in which the frame goes to and fro, and one in which it is on the device twice.
  std::vector<Schedule> schedules(const DeviceStages& stages) const {
    std::vector<Schedule> all;
    for (const char* name : {"gpu", "overlap", "split"})
      all.push_back(named_schedule(name, detector_, &stages, 2));
    Schedule custom;
    custom.name = "custom";
    custom.on_device.set(kFilter).set(kClassify);
    custom.in_flight = 3;
    all.push_back(custom);
    return all;
  }

  RunReport run_all(Pipeline& pipeline, const std::string& what) {
    Collector collector;
    MemorySource source(frames_, static_cast<std::int64_t>(frames_.size()));
    const RunReport report = test::run(pipeline, source, collector);
    EXPECT_EQ(collector.results.size(), frames_.size()) << what;
    for (std::size_t k = 0; k < collector.results.size(); ++k) {
      const FrameResult& result = collector.results[k];
      EXPECT_EQ(result.frame, static_cast<std::int64_t>(k + 1)) << what;
      EXPECT_EQ(result.objects, expected_[k]) << what << ", frame " << k + 1;
      EXPECT_EQ(result.status, expected_[k].empty() ? FrameStatus::skipped : FrameStatus::ok) << what;
    }
    EXPECT_EQ(report.failed, 0) << what << ": " << report.first_failure;
    EXPECT_EQ(report.skipped, 1) << what;
    return report;
  }

  // How often the log says that the device is disabled, since the last call.
  int times_disabled() {
    const std::string text = log_.str();
    log_.clear();
    int count = 0;
    for (std::size_t at = text.find("disabled"); at != std::string::npos; at = text.find("disabled", at + 1))
      ++count;
    return count;
  }

  filterbank::FilterbankDetector detector_{random_model(5, 3), options()};
  std::vector<Frame> frames_;
  std::vector<std::vector<Detection>> expected_;
  std::optional<opencl::ChosenDevice> chosen_;
  TempDir folder_;
  sightline::test::Variable cache_{"XDG_CACHE_HOME", {}};
  sightline::test::LogCapture log_;
};

TEST_F(DeviceFaults, WithoutAnyTheDeviceDoesTheWork) {
  const auto stages = make_stages();
  for (const Schedule& schedule : schedules(*stages)) {
    Pipeline pipeline(detector_, stages.get(), schedule, {2});
    fail_calls_for_test("clEnqueueNDRangeKernel", 1 << 20);
    const RunReport report = run_all(pipeline, schedule.name);
    EXPECT_EQ(report.retried, 0) << schedule.name;
    EXPECT_EQ(times_disabled(), 0);
    fail_calls_for_test("clEnqueueNDRangeKernel", 1);
    EXPECT_GT(run_all(pipeline, schedule.name).retried, 0) << "the device was not called";
    EXPECT_EQ(times_disabled(), 1);
    EXPECT_TRUE(pipeline.device_lost());
  }
}

// Construction of the stages throws, whichever call fails; the first one that is not reached ends the test.
TEST_F(DeviceFaults, OfConstructionAreDeviceErrors) {
  make_stages();  // builds the programs, so that every construction below makes the same calls
  int n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 500);
    fail_calls_for_test("", n, 1);
    std::unique_ptr<DeviceStages> stages;
    try {
      stages = make_stages();
    } catch (const opencl::DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("CL_OUT_OF_RESOURCES"));
      continue;
    }
    EXPECT_TRUE(failure_is_left(1)) << "call " << n << " failed unseen";
    fail_calls_for_test("", 0);
    break;
  }
  EXPECT_GT(n, 5);
  EXPECT_EQ(times_disabled(), 0);
}

TEST_F(DeviceFaults, OfOneCallCostNoFrame) {
  const auto stages = make_stages();
  for (const Schedule& schedule : schedules(*stages)) {
    // How many calls a run makes depends on how many slots its frames happen to use.
    int unused = 0;
    int unseen = 0;
    int n = 1;
    for (; unused < sightline::test::sampled(10, 4);
         n += static_cast<int>(sightline::test::sampling_step(1))) {
      ASSERT_LT(n, 3000);
      Pipeline pipeline(detector_, stages.get(), schedule, {2});
      const std::string what = schedule.name + ", call " + std::to_string(n);
      fail_calls_for_test("", n, 1);
      const RunReport report = run_all(pipeline, what);
      const bool left = failure_is_left();
      fail_calls_for_test("", 0);
      if (left) {
        ++unused;
        continue;
      }
      const int times = times_disabled();
      EXPECT_LE(times, 1) << what;
      if (times == 0) {  // the call gave memory back, which cannot fail to any effect
        EXPECT_EQ(report.retried, 0) << what;
        ASSERT_LE(++unseen, 12) << what;
        continue;
      }
      EXPECT_TRUE(pipeline.device_lost()) << what;
      EXPECT_LE(report.retried, 5) << what;
      // From now on not a call is made.
      fail_calls_for_test("", 1, 1);
      EXPECT_EQ(run_all(pipeline, what).retried, 0) << what;
      EXPECT_TRUE(failure_is_left(1)) << what << ": the device was called";
      fail_calls_for_test("", 0);
      ASSERT_FALSE(HasFailure()) << what;
    }
    EXPECT_GT(n, 100) << schedule.name;
  }
}

TEST_F(DeviceFaults, OfAllCallsFromSomeOnCostNoFrame) {
  const auto stages = make_stages();
  for (const Schedule& schedule : schedules(*stages)) {
    for (int n = 1; n < 400; n += static_cast<int>(sightline::test::sampling_step(13))) {
      Pipeline pipeline(detector_, stages.get(), schedule, {2});
      fail_calls_for_test("", n);
      run_all(pipeline, schedule.name + ", calls from " + std::to_string(n));
      fail_calls_for_test("", 0);
      EXPECT_LE(times_disabled(), 1);
      ASSERT_FALSE(HasFailure()) << schedule.name << " with calls from the " << n << ". on failing";
    }
  }
}

TEST_F(DeviceFaults, OfOneKindOfCallCostNoFrame) {
  const auto stages = make_stages();
  for (const Schedule& schedule : schedules(*stages)) {
    for (const char* call : {"clCreateBuffer", "clCreateCommandQueue", "clEnqueueMapBuffer", "clSetKernelArg",
                             "clEnqueueNDRangeKernel", "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
                             "clEnqueueFillBuffer", "clEnqueueUnmapMemObject", "clFlush",
                             "clSetEventCallback", "clGetEventProfilingInfo", "clWaitForEvents"}) {
      for (const int n : {1, 2}) {
        Pipeline pipeline(detector_, stages.get(), schedule, {2});
        fail_calls_for_test(call, n);
        run_all(pipeline, schedule.name + ", " + call);
        fail_calls_for_test("", 0);
        EXPECT_LE(times_disabled(), 1);
        ASSERT_FALSE(HasFailure()) << schedule.name << ", " << call;
      }
    }
  }
}

TEST_F(DeviceFaults, OfTheCompilerAreDeviceErrors) {
  for (const char* call : {"clCreateProgramWithSource", "clBuildProgram"}) {
    for (const int n : {1, 2}) {
      cache_.set(folder_ / (call + std::to_string(n)));
      fail_calls_for_test(call, n);
      sightline::test::expect_error(ExitCode::failed, call, [&] { make_stages(); });
    }
  }
}

}  // namespace
}  // namespace sightline::pipeline
