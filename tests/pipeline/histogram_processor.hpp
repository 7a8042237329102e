#pragma once
// A frame processor whose result is no list of objects: the histogram of a gray frame, or of one of a frame's
// colours, in three stages, on the CPU and on OpenCL devices.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "detection/sliding_window.hpp"
#include "processing/frame_colour.hpp"
#include "processing/inter_stage_buffer.hpp"
#include "processing/opencl/opencl_stages.hpp"
#include "processing/planned_frame.hpp"

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

/// The processor's stages, in order, and what they hand to each other.
enum HistogramStage : std::size_t { kCountBands, kSumBands, kFinishHistogram };
enum HistogramResource : std::size_t { kBands = kFrameResource + 1, kHistogram, kOutput };

class HistogramWorkspace : public Workspace {
 public:
  static constexpr int kBandRows = 4;

  PictureView frame;
  FrameColour colour;
  PlannedFrame planned;
  Rows rows;                   ///< of the workspace's partition
  InterStageBuffer bands;      ///< uint32 [band of rows][value]
  InterStageBuffer histogram;  ///< uint32 [value]
  std::shared_ptr<const FrameOutput> output;

  int band_count() const { return (rows.end - rows.begin + kBandRows - 1) / kBandRows; }
  static std::uint32_t* numbers(InterStageBuffer& buffer) {
    return reinterpret_cast<std::uint32_t*>(buffer.data());
  }
};

class HistogramProcessor : public FrameProcessor {
 public:
  /// @param colour  0 to 2: red, green or blue; none: luma
  explicit HistogramProcessor(std::optional<int> colour = std::nullopt) : colour_(colour) {}

  std::optional<int> colour() const { return colour_; }
  FramePixels pixels() const override { return colour_ ? FramePixels::luma_and_colour : FramePixels::luma; }
  const ProcessorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override {
    static constexpr std::string_view kResources[] = {"frame", "bands", "histogram", "output"};
    return kResources;
  }
  std::span<const StageInfo> stages() const override {
    static constexpr StageInfo kStages[] = {{"count", {kFrameResource}, {kBands}, true},
                                            {"sum", {kBands}, {kHistogram}, true},
                                            {"finish", {kHistogram}, {kOutput}}};
    return kStages;
  }
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<HistogramWorkspace>();
  }

  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override {
    HistogramWorkspace& w = own(workspace);
    w.frame = frame;
    w.colour.begin(frame);
    w.planned.update(
        frame.size(), partition, [] {},
        [&] {
          const auto row_at = [&](double part) {
            return static_cast<int>(std::lround(part * frame.height()));
          };
          w.rows = {row_at(partition.begin), row_at(partition.end)};
        });
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

  void count_bands(HistogramWorkspace& w) const {
    std::uint32_t* const bands = HistogramWorkspace::numbers(w.bands);
    if (colour_) w.colour.make(w);
    const GrayView frame = colour_ ? colour_plane(w.colour.rgb(), *colour_) : w.frame.gray();
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

  const std::optional<int> colour_;
  ProcessorInfo info_{"histogram", "none", "histogram", "", "", ""};
};

class HistogramStages;

/// One frame in flight on a device.
class HistogramSlot : public OpenClSlotBase {
 public:
  explicit HistogramSlot(const HistogramStages& stages);
  opencl::Kernel count, sum;
};

/// Stages `count` and `sum` on a device.
class HistogramStages : public OpenClStagesOf<HistogramWorkspace, HistogramSlot> {
 public:
  std::function<void()> on_enqueue;  ///< before each stage; may throw

  HistogramStages(const HistogramProcessor& processor, const opencl::Context& context)
      : OpenClStagesOf(processor, context, nullptr, {kCountBands, kSumBands}),
        colour_(processor.colour()),
        program_(program("image/gray.cl", "", kSource)) {  // any file: the kernels are in kSource
    buffer(kBands, &HistogramWorkspace::bands);
    buffer(kHistogram, &HistogramWorkspace::histogram);
  }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<HistogramSlot>(*this); }

 private:
  friend class HistogramSlot;
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

  void enqueue(HistogramSlot& slot, const HistogramWorkspace& w, std::size_t stage) const override {
    if (on_enqueue) on_enqueue();
    const int bands = w.band_count();
    if (stage == kCountBands) {
      const int row = colour_.value_or(0) * w.frame.height();
      slot.count.arguments(colour_ ? slot.rgb() : slot.luma(), slot.luma_stride(), w.frame.width(),
                           row + w.rows.begin, row + w.rows.end, HistogramWorkspace::kBandRows,
                           slot.buffer(kBands));
      slot.launch(slot.count, {{static_cast<std::size_t>(bands), 1, 1}, {0, 0, 0}});
    } else {
      slot.sum.arguments(slot.buffer(kBands), bands, slot.buffer(kHistogram));
      slot.launch(slot.sum, {{256, 1, 1}, {0, 0, 0}});
    }
  }

  const std::optional<int> colour_;
  opencl::Program program_;
};

inline HistogramSlot::HistogramSlot(const HistogramStages& stages)
    : OpenClSlotBase(stages), count(stages.program_, "count_rows"), sum(stages.program_, "sum_bands") {}

}  // namespace sightline::pipeline::test
