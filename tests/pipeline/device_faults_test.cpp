// What happens when the device fails: every call to OpenCL in turn is made to fail, and no frame may be lost
// or wrong for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "filterbank/opencl_stages.hpp"
#include "opencl/error.hpp"
#include "unit/filterbank_support.hpp"

namespace sightline::filterbank {
namespace {

using opencl::fail_calls_for_test;
using test::random_model;
using test::random_picture;
using ::testing::HasSubstr;

// Whether the ordered failure is still to come; it is used up by this.
bool failure_is_next() {
  try {
    opencl::check(0, "probe", "probe");
  } catch (const opencl::DeviceError&) {
    return true;
  }
  return false;
}

class OpenClFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto devices = opencl::list_devices();
    for (const opencl::DeviceInfo& device : devices) {
      if (device.correctly_rounded_divide_sqrt && device.compiler_available && !device_)
        device_ = opencl::ChosenDevice{device, 0, "test"};
    }
    if (!device_) GTEST_SKIP() << "there is no usable OpenCL device here";
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);

    old_logger_ = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));

    // The second frame has another size, so that buffers are made anew in the middle of the run.
    for (const Size size : {Size{70, 61}, {52, 75}, {70, 61}})
      frames_.push_back(random_picture(size, static_cast<unsigned>(frames_.size()) + 1));
    options_.scale_step = 1.5;
    options_.threshold = -10;
    const FilterbankDetector cpu(model_, options_);
    const auto workspace = cpu.make_workspace();
    for (const auto& frame : frames_) {
      expected_.push_back(detect(cpu, *workspace, frame.view()));
      ASSERT_FALSE(expected_.back().empty());
    }
  }
  void TearDown() override {
    fail_calls_for_test("", 0);
    if (old_logger_) spdlog::set_default_logger(old_logger_);
  }

  std::unique_ptr<OpenClFilterbankDetector> make() const {
    return std::make_unique<OpenClFilterbankDetector>(std::make_unique<FilterbankDetector>(model_, options_),
                                                      *device_, default_tuning(device_->device));
  }
  void expect_all_frames(const Detector& detector, Workspace& workspace) {
    for (std::size_t k = 0; k < frames_.size(); ++k)
      EXPECT_EQ(detect(detector, workspace, frames_[k].view()), expected_[k]) << "frame " << k;
  }
  // How often the log says that the device is taken out, since the last call.
  int taken_out() {
    const std::string text = log_.str();
    log_.str("");
    int count = 0;
    for (std::size_t at = text.find("taken out"); at != std::string::npos;
         at = text.find("taken out", at + 1))
      ++count;
    return count;
  }
  // A frame is searched without a call to the device.
  void expect_cpu_only(const Detector& detector, Workspace& workspace) {
    fail_calls_for_test("", 1, 1);
    EXPECT_EQ(detect(detector, workspace, frames_[0].view()), expected_[0]);
    EXPECT_TRUE(failure_is_next()) << "the device was called";
    fail_calls_for_test("", 0);
  }

  Model model_ = random_model(5, 3);
  Options options_;
  std::vector<Image<std::uint8_t>> frames_;
  std::vector<std::vector<Detection>> expected_;
  std::optional<opencl::ChosenDevice> device_;
  test::TemporaryFolder folder_;
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> old_logger_;
};

TEST_F(OpenClFaults, WithoutAnyTheDeviceDoesTheWork) {
  const auto detector = make();
  const auto workspace = detector->make_workspace();
  fail_calls_for_test("", 1 << 30);
  expect_all_frames(*detector, *workspace);
  EXPECT_EQ(taken_out(), 0);
  fail_calls_for_test("", 1, 1);
  EXPECT_EQ(detect(*detector, *workspace, frames_[0].view()), expected_[0]);
  EXPECT_FALSE(failure_is_next()) << "the device was not called";
  EXPECT_EQ(taken_out(), 1);
}

// Construction throws, whichever call fails; the first one that is not reached ends the test.
TEST_F(OpenClFaults, OfConstructionAreDeviceErrors) {
  make();  // builds the programs, so that every construction below makes the same calls
  int n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 500);
    fail_calls_for_test("", n, 1);
    std::unique_ptr<OpenClFilterbankDetector> detector;
    try {
      detector = make();
    } catch (const opencl::DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("CL_OUT_OF_RESOURCES"));
      continue;
    }
    EXPECT_TRUE(failure_is_next()) << "call " << n << " failed unseen";
    const auto workspace = detector->make_workspace();
    expect_all_frames(*detector, *workspace);
    break;
  }
  EXPECT_GT(n, 5);
  EXPECT_EQ(taken_out(), 0);
}

TEST_F(OpenClFaults, OfOneCallCostNoFrame) {
  make();  // builds the programs
  int n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 2000);
    const auto detector = make();
    fail_calls_for_test("", n, 1);
    const auto workspace = detector->make_workspace();
    expect_all_frames(*detector, *workspace);
    if (failure_is_next()) break;  // the run has n - 1 calls
    fail_calls_for_test("", 0);
    EXPECT_EQ(taken_out(), 1) << "call " << n;
    expect_cpu_only(*detector, *workspace);
    ASSERT_FALSE(HasFailure()) << "with call " << n << " failing";
  }
  EXPECT_GT(n, 100);
}

TEST_F(OpenClFaults, OfAllCallsFromSomeOnCostNoFrame) {
  make();
  for (int n = 1; n < 400; n += 13) {
    const auto detector = make();
    fail_calls_for_test("", n);
    const auto workspace = detector->make_workspace();
    expect_all_frames(*detector, *workspace);
    fail_calls_for_test("", 0);
    EXPECT_LE(taken_out(), 1);
    ASSERT_FALSE(HasFailure()) << "with calls from the " << n << ". on failing";
  }
}

TEST_F(OpenClFaults, OfOneKindOfCallCostNoFrame) {
  make();
  for (const char* call : {"clCreateBuffer", "clCreateCommandQueue", "clEnqueueMapBuffer", "clSetKernelArg",
                           "clEnqueueNDRangeKernel", "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
                           "clEnqueueFillBuffer", "clFlush", "clWaitForEvents"}) {
    for (const int n : {1, 2}) {
      const auto detector = make();
      fail_calls_for_test(call, n);
      const auto workspace = detector->make_workspace();
      expect_all_frames(*detector, *workspace);
      fail_calls_for_test("", 0);
      EXPECT_LE(taken_out(), 1);
      if (n == 1) {
        expect_cpu_only(*detector, *workspace);
      }
      ASSERT_FALSE(HasFailure()) << call;
    }
  }
}

// Frames that are on the device when another one fails there are finished, too.
TEST_F(OpenClFaults, OfOneFrameLeaveThoseInFlightRight) {
  make();
  for (const char* call : {"clWaitForEvents", "clEnqueueNDRangeKernel"}) {
    const auto detector = make();
    const auto a = detector->make_workspace();
    const auto b = detector->make_workspace();
    ASSERT_TRUE(detector->prepare(*a, frames_[0].view()));
    ASSERT_TRUE(detector->prepare(*b, frames_[1].view()));
    detector->run_stage(0, *a);
    fail_calls_for_test(call, 1, 1);
    detector->run_stage(0, *b);
    for (std::size_t stage = 1; stage < detector->stages().size(); ++stage) {
      detector->run_stage(stage, *b);
      detector->run_stage(stage, *a);
    }
    EXPECT_FALSE(failure_is_next());
    EXPECT_EQ(detector->take_detections(*a), expected_[0]);
    EXPECT_EQ(detector->take_detections(*b), expected_[1]);
    EXPECT_EQ(taken_out(), 1);
    expect_cpu_only(*detector, *a);
  }
}

TEST_F(OpenClFaults, OfTheCompilerAreDeviceErrors) {
  for (const char* call : {"clCreateProgramWithSource", "clBuildProgram"}) {
    for (const int n : {1, 2}) {
      setenv("XDG_CACHE_HOME", (folder_ / (call + std::to_string(n))).c_str(), 1);
      fail_calls_for_test(call, n);
      EXPECT_THAT(test::error_of(ExitCode::failed, [&] { make(); }), HasSubstr(call));
    }
  }
}

TEST_F(OpenClFaults, FramesThatAreTooSmallAreSkippedAllTheSame) {
  const auto detector = make();
  const auto workspace = detector->make_workspace();
  const auto tiny = random_picture({10, 10}, 1);
  EXPECT_FALSE(detector->prepare(*workspace, tiny.view()));
  expect_all_frames(*detector, *workspace);
  EXPECT_FALSE(detector->prepare(*workspace, tiny.view()));
  expect_all_frames(*detector, *workspace);
  EXPECT_EQ(taken_out(), 0);
}

}  // namespace
}  // namespace sightline::filterbank
