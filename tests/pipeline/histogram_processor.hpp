#pragma once
// A frame processor whose result is no list of objects: the histogram of a gray frame, in three stages, on
// the CPU and on OpenCL devices.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "detection/sliding_window.hpp"
#include "opencl/frame_input.hpp"
#include "opencl/program.hpp"
#include "opencl/shared_buffer.hpp"
#include "processing/device_stages.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline::pipeline::test {

/// How many pixels have each value.
using Histogram = std::array<std::uint32_t, 256>;

class HistogramOutput : public FrameOutput {
 public:
  explicit HistogramOutput(const Histogram& values) : counts(values) {}
  std::string difference(const FrameOutput& other) const override {
    const auto& theirs = static_cast<const HistogramOutput&>(other).counts;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] != theirs[bin])
        return "bin " + std::to_string(bin) + ": " + std::to_string(counts[bin]) + ", not " +
               std::to_string(theirs[bin]);
    }
    return "";
  }
  std::int64_t count() const override { return 256; }
  const Histogram counts;
};

/// The processor's stages, in order.
enum HistogramStage : std::size_t { kCountBands, kSumBands, kFinishHistogram };

class HistogramWorkspace : public Workspace {
 public:
  static constexpr int kBandRows = 4;

  PictureView frame;
  Rows rows;  ///< of the workspace's partition
  /// By resource: uint32 [band of rows][value], then uint32 [value].
  InterStageBuffer bands, histogram;
  std::shared_ptr<const FrameOutput> output;

  int band_count() const { return (rows.end - rows.begin + kBandRows - 1) / kBandRows; }
  InterStageBuffer& buffer(std::size_t resource) { return resource == 1 ? bands : histogram; }
  static std::uint32_t* numbers(InterStageBuffer& buffer) {
    return reinterpret_cast<std::uint32_t*>(buffer.data());
  }
};

class HistogramProcessor : public FrameProcessor {
 public:
  const ProcessorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override {
    static constexpr std::string_view kResources[] = {"frame", "bands", "histogram", "output"};
    return kResources;
  }
  std::span<const StageInfo> stages() const override {
    static constexpr StageInfo kStages[] = {
        {"count", {0}, {1}, true}, {"sum", {1}, {2}, true}, {"finish", {2}, {3}}};
    return kStages;
  }
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<HistogramWorkspace>();
  }

  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override {
    HistogramWorkspace& w = own(workspace);
    const auto row_at = [&](double part) { return static_cast<int>(std::lround(part * frame.height())); };
    w.frame = frame;
    w.rows = {row_at(partition.begin), row_at(partition.end)};
    w.bands.plan(static_cast<std::int64_t>(sizeof(Histogram)) * std::max(w.band_count(), 1));
    w.histogram.plan(sizeof(Histogram));
    w.output.reset();
    return frame.height() > 0;
  }

  void run_stage(std::size_t stage, Workspace& workspace) const override {
    HistogramWorkspace& w = own(workspace);
    if (stage == kCountBands) {
      count_bands(w);
    } else if (stage == kSumBands) {
      std::uint32_t* const sums = HistogramWorkspace::numbers(w.histogram);
      const std::uint32_t* const bands = HistogramWorkspace::numbers(w.bands);
      for (int value = 0; value < 256; ++value) {
        sums[value] = 0;
        for (int band = 0; band < w.band_count(); ++band) sums[value] += bands[256 * band + value];
      }
    } else {
      Histogram counts;
      std::copy_n(HistogramWorkspace::numbers(w.histogram), counts.size(), counts.begin());
      w.output = std::make_shared<HistogramOutput>(counts);
    }
  }

  std::size_t partitionable_stages() const override { return kFinishHistogram; }
  void merge(Workspace& workspace, Workspace& other) const override {
    std::uint32_t* const all = HistogramWorkspace::numbers(own(workspace).histogram);
    const std::uint32_t* const more = HistogramWorkspace::numbers(own(other).histogram);
    for (int value = 0; value < 256; ++value) all[value] += more[value];
  }
  void take_result(Workspace& workspace, FrameResult& result) const override {
    result.output = std::move(own(workspace).output);
  }

 private:
  static HistogramWorkspace& own(Workspace& workspace) { return static_cast<HistogramWorkspace&>(workspace); }

  static void count_bands(HistogramWorkspace& w) {
    std::uint32_t* const bands = HistogramWorkspace::numbers(w.bands);
    const GrayView frame = w.frame.gray();
    const auto count = [&](int band) {
      std::uint32_t* const counts = bands + static_cast<std::ptrdiff_t>(256) * band;
      std::fill_n(counts, 256, 0U);
      const int begin = w.rows.begin + band * HistogramWorkspace::kBandRows;
      for (int y = begin; y < std::min(begin + HistogramWorkspace::kBandRows, w.rows.end); ++y) {
        for (int x = 0; x < frame.width(); ++x) ++counts[frame.at(x, y)];
      }
    };
    parallel_for_isolated(w.band_count(), count, &w.work);
  }

  ProcessorInfo info_{"histogram", "none", "histogram", "", "", ""};
};

/// Stages `count` and `sum` on a device. What is copied follows from the processor's contract alone.
class HistogramStages : public DeviceStages {
 public:
  std::function<void()> on_submit;  ///< may throw

  HistogramStages(const HistogramProcessor& processor, const opencl::ChosenDevice& device)
      : processor_(processor),
        context_(device),
        gray_(opencl::GrayKernels::build(context_, nullptr)),
        program_(context_, "image/gray.cl", "", nullptr, kSource) {}

  const opencl::Context& context() const override { return context_; }
  StageSet supported() const override { return StageSet(3); }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<Slot>(*this); }

  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override {
    auto& s = static_cast<Slot&>(slot);
    auto& w = static_cast<HistogramWorkspace&>(workspace);
    s.segments = plan_transfers(processor_.stages(), on_device);
    s.stride = (w.frame.width() + 63) / 64 * 64;
    s.input.prepare(s.queue, w.frame, s.stride);
    s.frame = opencl::Buffer(context_, static_cast<std::size_t>(s.stride) * w.frame.height());
    for (std::size_t resource : {1, 2}) {
      opencl::SharedBuffer& shared = s.shared(resource);
      InterStageBuffer& buffer = w.buffer(resource);
      const std::size_t bytes = buffer.bytes() + InterStageBuffer::kSlack;
      if (shared.bytes() != bytes) shared = opencl::SharedBuffer(s.queue, bytes);
      const bool is_brought = std::ranges::any_of(
          s.segments, [&](const DeviceSegment& segment) { return segment.uploads.contains(resource); });
      if (is_brought) {
        buffer.bind(shared.host_writes());
      } else {
        shared.to_device_unwritten();
      }
    }
  }

  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override {
    auto& s = static_cast<Slot&>(slot);
    auto& w = static_cast<HistogramWorkspace&>(workspace);
    if (on_submit) on_submit();
    s.spans.clear();
    const auto segment = std::ranges::find(s.segments, first, &DeviceSegment::first);
    if (segment == s.segments.end() || segment->last != last) throw std::logic_error("no such segment");
    for (std::size_t resource = 0; resource < 3; ++resource) {
      if (!segment->uploads.contains(resource)) continue;
      s.add(DeviceSpan::Kind::upload, first, "upload",
            resource == kFrameResource ? s.input.upload(s.queue, w.frame, s.frame, s.stride)
                                       : s.shared(resource).to_device());
    }
    for (std::size_t stage = first; stage < last; ++stage) enqueue(s, w, stage);
    for (std::size_t resource : {1, 2}) {
      if (!segment->downloads.contains(resource)) continue;
      s.done = s.shared(resource).to_host();
      s.add(DeviceSpan::Kind::download, last - 1, "download", s.done);
      w.buffer(resource).bind(s.shared(resource).host());
    }
    s.queue.flush();
  }
  void complete(DeviceSlot&, Workspace&) const override {}

 private:
  static constexpr char kSource[] = R"(
__kernel void count_rows(__global const uchar* frame, int stride, int width, int first_row, int last_row,
                         int rows, __global uint* bands) {
  const int band = get_global_id(0);
  __global uint* counts = bands + 256 * band;
  for (int value = 0; value < 256; ++value) counts[value] = 0;
  const int begin = first_row + band * rows;
  for (int y = begin; y < min(begin + rows, last_row); ++y)
    for (int x = 0; x < width; ++x) ++counts[frame[y * stride + x]];
}
__kernel void sum_bands(__global const uint* bands, int count, __global uint* histogram) {
  const int value = get_global_id(0);
  uint sum = 0;
  for (int band = 0; band < count; ++band) sum += bands[256 * band + value];
  histogram[value] = sum;
}
)";

  struct Slot : DeviceSlot {
    explicit Slot(const HistogramStages& stages)
        : queue(stages.context_),
          input(stages.gray_),
          count(stages.program_, "count_rows"),
          sum(stages.program_, "sum_bands") {}
    opencl::SharedBuffer& shared(std::size_t resource) { return resource == 1 ? bands : histogram; }

    opencl::Queue queue;
    opencl::FrameInput input;
    opencl::Kernel count, sum;
    opencl::Buffer frame;
    int stride = 0;  ///< bytes
    opencl::SharedBuffer bands, histogram;
    std::vector<DeviceSegment> segments;
  };

  static void enqueue(Slot& s, HistogramWorkspace& w, std::size_t stage) {
    const int bands = w.band_count();
    if (stage == kCountBands) {
      s.count.arguments(s.frame, s.stride, w.frame.width(), w.rows.begin, w.rows.end,
                        HistogramWorkspace::kBandRows, s.bands.device());
      s.add(DeviceSpan::Kind::stage, stage, "count",
            s.count.enqueue(s.queue, {{static_cast<std::size_t>(bands), 1, 1}, {0, 0, 0}}));
    } else {
      s.sum.arguments(s.bands.device(), bands, s.histogram.device());
      s.add(DeviceSpan::Kind::stage, stage, "sum", s.sum.enqueue(s.queue, {{256, 1, 1}, {0, 0, 0}}));
    }
  }

  const HistogramProcessor& processor_;
  opencl::Context context_;
  opencl::Program gray_;
  opencl::Program program_;
};

}  // namespace sightline::pipeline::test
