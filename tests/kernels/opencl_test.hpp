#pragma once
/// What the tests of OpenCL kernels share: devices, models, frames, and the comparison of a device's stages
/// with the CPU's.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detectors/filterbank/opencl/stages.hpp"
#include "kernels/kernel_test.hpp"
#include "processing/frame_runner.hpp"

namespace sightline::test {

/// The devices whose results equal the CPU's. oclgrind does not claim correctly rounded roots, but computes
/// them on the host.
std::vector<opencl::DeviceInfo> exact_devices();

/// One context for all tests of a device: PoCL reads its library of built-in functions again for each context
/// that builds a program, which takes longer than most tests. Of changed properties of a device, it respects
/// `local_memory_bytes` alone.
const opencl::Context& shared_context(const opencl::DeviceInfo& device);

/// For tests that build the same programs many times; kept from run to run. The others use none: to give a
/// program's binary, PoCL compiles all its kernels once more.
opencl::ProgramCache program_cache();

/// A test on these devices; skipped where there are none.
class ExactDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_ = exact_devices();
    if (devices_.empty()) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  }
  std::vector<opencl::DeviceInfo> devices_;
};

/// One detector on the CPU and on a device, with one slot that all frames go through.
template <typename Detector, typename Stages, typename Slot, typename FrameWorkspace>
class CpuAndDevice {
 public:
  CpuAndDevice(const opencl::DeviceInfo& device, const auto& model, const auto& options, const auto& tuning)
      : detector_(model, options),
        stages_(detector_, shared_context(device), nullptr, tuning),
        cpu_(detector_.make_workspace()),
        device_(detector_, &stages_, stages_.supported()) {}

  const Detector& detector() const { return detector_; }
  const Stages& stages() const { return stages_; }
  Slot& slot() { return static_cast<Slot&>(device_.slot()); }
  FrameRunner& runner() { return device_; }
  FrameWorkspace& cpu() { return static_cast<FrameWorkspace&>(*cpu_); }
  FrameWorkspace& device() { return static_cast<FrameWorkspace&>(device_.workspace()); }

  /// A frame's stages [begin, end) on the CPU, and [first, last) of them on the device. What there is to say
  /// where it is over with that: "" where there is nothing to search in the frame, "prepare" where the two
  /// disagree on that.
  std::optional<std::string> run(PictureView frame, const Partition& partition, std::size_t begin,
                                 std::size_t end, std::size_t first, std::size_t last) {
    const bool searched = detector_.prepare(*cpu_, frame, partition);
    if (device_.prepare(frame, partition) != searched) return "prepare";
    if (!searched) return "";
    for (std::size_t stage = begin; stage < end; ++stage) detector_.run_stage(stage, *cpu_);
    StageSet on_device;
    for (std::size_t stage = first; stage < last; ++stage) on_device.set(stage);
    device_.map(on_device);
    device_.run();
    return std::nullopt;
  }
  /// Where candidates or detections differ; "" where they do not.
  std::string difference_of_results() {
    const auto &a = cpu().candidates, &b = device().candidates;
    if (a != b) return "candidates: " + std::to_string(a.size()) + " and " + std::to_string(b.size());
    return cpu().detections == device().detections ? "" : "detections";
  }

 private:
  Detector detector_;
  Stages stages_;
  std::unique_ptr<Workspace> cpu_;
  FrameRunner device_;
};

/// Device and CPU find the same in shares of a picture, and in all of them as much as in the whole.
template <typename AnyComparison>
void expect_shares_fit_together(AnyComparison& comparison, GrayView picture, std::size_t first,
                                std::size_t last) {
  ASSERT_EQ(comparison.difference(picture), "");
  const std::size_t whole = comparison.cpu().candidates.size();
  std::size_t parts = 0;
  for (const Partition partition : {Partition{0, 0.3}, Partition{0.3, 0.31}, Partition{0.31, 1}}) {
    ASSERT_EQ(comparison.difference(picture, first, last, partition), "");
    parts += comparison.cpu().candidates.size();
  }
  EXPECT_EQ(parts, whole);
}

}  // namespace sightline::test

namespace sightline::filterbank {

inline constexpr WindowShape kSmallWindow{2, 2};  // 16x16 pixels

/// Random weights; the object fills the window but for a pixel all round.
Model make_model(Dictionary dictionary, unsigned seed, WindowShape window = kSmallWindow,
                 ClassifierKind kind = ClassifierKind::linear, int templates = 1,
                 const Descriptor& descriptor = {});

/// The descriptors with more than the standard one that run in exact arithmetic.
std::vector<Descriptor> rich_descriptors();

Image<std::uint8_t> picture(Size size, test::Pattern pattern, unsigned seed = 1);

/// Sizes around the widths of vectors, tiles and cells; the order makes buffers grow and shrink.
struct Frames {
  std::vector<Image<std::uint8_t>> images;
  std::vector<GrayView> views;

  Frames() {
    for (const Size size : {Size{65, 129}, {16, 16}, {17, 16}, {16, 33}, {31, 47}, {150, 41}}) add(size);
  }
  explicit Frames(const std::vector<Size>& sizes) {
    for (const Size size : sizes) add(size);
  }
  void add(Size size, test::Pattern pattern = test::Pattern::noise) {
    images.push_back(picture(size, pattern, static_cast<unsigned>(images.size()) + 1));
    views.clear();
    for (const auto& image : images) views.emplace_back(image.view());
  }
};

/// A threshold that about every `part`-th window of the frame reaches.
double threshold_for(const Model& model, Options options, GrayView frame, int part);
/// A threshold that every fourth window reaches.
Options some_options(const Model& model, GrayView frame, double scale_step = 1.3);

std::string text_of(const KernelTuning& tuning);

class Comparison
    : public test::CpuAndDevice<FilterbankDetector, OpenClStages, OpenClSlot, FilterbankWorkspace> {
 public:
  using CpuAndDevice::CpuAndDevice;

  /// Where the results of a frame differ, stage by stage and bit for bit; "" where they do not.
  std::string difference(PictureView frame);

  /// Of the last frame, by the device.
  const std::vector<Detection>& found() const { return found_; }
  std::size_t detections() const { return found_.size(); }
  std::size_t candidates() { return cpu().candidates.size(); }
  std::size_t levels() { return cpu().levels.size(); }
  std::size_t octaves() { return cpu().octave_sizes().size() - 1; }

 private:
  std::vector<Detection> found_;
};

/// A test of stages on every device.
class OpenClStagesTest : public test::ExactDevicesTest {
 protected:
  /// Runs every form over all frames on every device.
  void compare(const Model& model, const Options& options, const std::vector<KernelTuning>& forms,
               const std::vector<GrayView>& frames) {
    for (const opencl::DeviceInfo& device : devices_) compare_on(device, model, options, forms, frames);
  }
  void compare_on(const opencl::DeviceInfo& device, const Model& model, const Options& options,
                  const std::vector<KernelTuning>& forms, const std::vector<GrayView>& frames) {
    for (const KernelTuning& form : forms) {
      SCOPED_TRACE(device.name + ": " + text_of(form));
      Comparison comparison(device, model, options, form);
      for (const GrayView frame : frames) {
        EXPECT_EQ(comparison.difference(frame), "") << "frame " << frame.width() << "x" << frame.height();
      }
    }
  }
  /// The default form of every device.
  void compare_default(const Model& model, const Options& options, const std::vector<GrayView>& frames) {
    for (const opencl::DeviceInfo& device : devices_) {
      compare_on(device, model, options, {tuning_table().defaults(device)}, frames);
    }
  }
};

/// The same comparisons on frames so small that a simulator (oclgrind, see tools/check-kernels) gets through
/// them in minutes.
using OpenClStagesSmall = OpenClStagesTest;

}  // namespace sightline::filterbank
