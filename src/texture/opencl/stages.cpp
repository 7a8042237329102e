#include "texture/opencl/stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "image/lbp.hpp"
#include "opencl/data.hpp"
#include "processing/opencl/kernel_variant.hpp"
#include "texture/counting.hpp"

namespace sightline::texture {
namespace {

using opencl::define;
using opencl::define_if;
using opencl::define_variant;

// For the circle of 8 points at distance 1: the weights of its second point, which is between the middle,
// east, north and north-east of it; those of the other diagonal ones are the same, mirrored.
std::string define_corners(const CircularLbp& circle) {
  if (circle.points() != 8 || circle.reach() != 1) return "";
  const auto& [north, north_east, middle, east] = circle.samples()[1].weights;
  return fmt::format(" -DCORNER={}u -DEDGE={}u -DMIDDLE={}u", north_east, north, middle);
}

// The points of an operator as the kernels' macros SAMPLE0, SAMPLE1, ...
std::string define_samples(const LbpOperator& one) {
  std::string text = define("POINTS", one.points()) + define_if(one.is_grid(), "GRID");
  int bit = 0;
  const auto add = [&](int x, int y, const std::string& weights) {
    text += fmt::format(" -DSAMPLE{0}={1}({0},{2},{3}{4})", bit, weights.empty() ? "PIXEL" : "MIXED", x, y,
                        weights);
    ++bit;
  };
  if (one.is_grid()) {
    for (const auto& [x, y] : kLbpNeighbours) add(x, y, "");
    return text;
  }
  text += define_corners(one.circle());
  for (const LbpSample& s : one.circle().samples()) {
    const auto& w = s.weights;
    add(s.x, s.y, s.is_pixel() ? std::string() : fmt::format(",{},{},{},{}", w[0], w[1], w[2], w[3]));
  }
  return text;
}

}  // namespace

TextureSlot::TextureSlot(const TextureStages& stages) : OpenClSlotBase(stages) {
  for (const opencl::Program& program : stages.programs_)
    operators.push_back(
        {{program, "count"}, {program, "reduce"}, {program, "cells"}, {program, "contrasts"}});
  reading = {stages.programs_.front(), "reading"};
}

TextureStages::TextureStages(const TextureProcessor& processor, const opencl::Context& context,
                             opencl::ProgramCache* cache, const KernelTuning& tuning)
    : OpenClStagesOf(processor, context, cache, {kCount}), texture_(&processor), tuning_(tuning) {
  buffer(kCounts, &TextureWorkspace::counts);
  buffer(kLabels, &TextureWorkspace::labels);
  settle();
  build();
}

// Sets parameters that the variant or the device determines.
void TextureStages::settle() {
  KernelTuning& t = tuning_;
  check_kernel_variant(t.histogram, kHistogramVariants);
  const opencl::DeviceInfo& device = context().device();
  const auto largest =
      static_cast<int>(std::clamp<std::uint64_t>(device.largest_work_group, 1, kMostWorkItems));
  if (t.group > largest) {  // the same number of work-items in more groups
    t.groups_a_unit = t.groups_a_unit * t.group / largest;
    t.group = largest;
  }
  if (t.histogram == "serial") t.group = 1;
  if (t.histogram != "banked") t.copies = 1;
  if (t.pixels != "word") t.pixels = "vector";
  int most = 0;
  for (std::size_t i = 0; i < texture_->settings().operators.size(); ++i)
    most = std::max(most, counted_bins(i));
  const auto bytes = [&] {
    return static_cast<std::uint64_t>(most) * sizeof(cl_uint) * static_cast<unsigned>(t.copies);
  };
  while (t.copies > 1 && bytes() > device.local_memory_bytes) t.copies /= 2;
}

int TextureStages::counted_bins(std::size_t index) const {
  return texture_->settings().operators[index].points() == 8 ? CodeTables::kCodes
                                                             : texture_->bins(index).count();
}

void TextureStages::build() {
  const TextureSettings& settings = texture_->settings();
  const KernelTuning& t = tuning_;
  const std::string shared = define_variant("HISTOGRAM", t.histogram) + define_variant("PIXELS", t.pixels) +
                             define("COPIES", t.copies) + define("ROWS", t.rows) + define("GROUP", t.group) +
                             define("CONTRASTS", kContrastValues) + define_if(t.writes_only, "WRITES_ONLY") +
                             define_if(settings.labels, "LABELS");
  opencl::Queue queue(context());
  for (std::size_t i = 0; i < settings.operators.size(); ++i) {
    const LbpOperator& one = settings.operators[i];
    const LbpBins& bins = texture_->bins(i);
    const std::string options =
        shared + define("BINS", bins.count()) + define_variant("MAPPING", to_string(settings.mapping)) +
        (bins.count() <= 256 ? " -DLABEL=uchar" : " -DLABEL=ushort") + define_samples(one);
    programs_.push_back(program("texture/count.cl", options));
    opencl::upload(queue, maps_.emplace_back(), bins.table());
  }
}

std::size_t TextureStages::work_groups() const {
  return static_cast<std::size_t>(std::max(context().device().compute_units, 1) * tuning_.groups_a_unit);
}

void TextureStages::make_scratch(TextureSlot& slot, const TextureWorkspace& /*workspace*/,
                                 std::size_t /*stage*/) const {
  std::int64_t bytes = sizeof(cl_uint);
  if (tuning_.histogram == "mapreduce") {
    for (std::size_t i = 0; i < programs_.size(); ++i)
      bytes = std::max(bytes, static_cast<std::int64_t>(work_groups() * sizeof(cl_uint)) * counted_bins(i));
  }
  slot.fit(slot.partial, bytes);
}

void TextureStages::enqueue(TextureSlot& slot, const TextureWorkspace& w, std::size_t /*stage*/) const {
  slot.launched(
      slot.queue.fill(slot.buffer(kCounts), 0, static_cast<std::size_t>(w.layout.counts) * sizeof(cl_uint)));
  for (std::size_t i = 0; i < programs_.size(); ++i) enqueue_operator(slot, w, i);
}

void TextureStages::enqueue_operator(TextureSlot& slot, const TextureWorkspace& w, std::size_t i) const {
  const TextureSettings& settings = texture_->settings();
  const OperatorLayout& layout = w.layout.operators[i];
  TextureSlot::Operator& kernels = slot.operators[i];
  const opencl::Buffer& counts = slot.buffer(kCounts);
  const cl_int width = w.layout.size.width, height = w.layout.size.height, border = settings.reach();
  const auto group = static_cast<std::size_t>(tuning_.group);
  // Kernels without labels do not touch what stands for them.
  const opencl::Buffer& labels = settings.labels ? slot.buffer(kLabels) : slot.partial;
  kernels.count.arguments(slot.luma(), slot.luma_stride(), width, height, border, maps_[i], counts,
                          static_cast<cl_int>(layout.bins_at), labels,
                          static_cast<cl_int>(layout.labels_at / layout.label_bytes), slot.partial);
  slot.launch("count", kernels.count, opencl::groups(work_groups(), group));
  if (tuning_.histogram == "mapreduce") {
    constexpr std::size_t kReduceGroup = 64;
    const auto bins = static_cast<std::size_t>(counted_bins(i));
    kernels.reduce.arguments(slot.partial, static_cast<cl_int>(work_groups()), maps_[i], counts,
                             static_cast<cl_int>(layout.bins_at));
    slot.launch("count", kernels.reduce,
                opencl::groups((bins + kReduceGroup - 1) / kReduceGroup,
                               std::min(kReduceGroup, kernels.reduce.largest_work_group())));
  }
  if (settings.cell > 0) {
    kernels.cells.arguments(slot.luma(), slot.luma_stride(), width, height, border,
                            static_cast<cl_int>(settings.cell), static_cast<cl_int>(w.layout.cells.width),
                            maps_[i], counts, static_cast<cl_int>(layout.cells_at));
    slot.launch("cells", kernels.cells,
                opencl::groups(static_cast<std::size_t>(w.layout.cells.width) *
                                   static_cast<std::size_t>(w.layout.cells.height),
                               group));
  }
  if (settings.contrast) {
    kernels.contrasts.arguments(slot.luma(), slot.luma_stride(), width, height, border, counts,
                                static_cast<cl_int>(layout.contrast_at));
    slot.launch("contrasts", kernels.contrasts, opencl::groups(work_groups(), group));
  }
}

double TextureStages::seconds_to_read(TextureSlot& slot, const TextureWorkspace& w) const {
  constexpr int kItemBytes = 16;
  const auto bytes = std::int64_t{slot.luma_stride()} * w.frame.height();
  const std::size_t group = std::min<std::size_t>(slot.reading.largest_work_group(), 256);
  const auto groups = static_cast<std::size_t>(std::max(context().device().compute_units, 1)) * 8;
  slot.reading.arguments(slot.luma(), opencl::checked(bytes / kItemBytes), slot.partial);
  const opencl::Event event = slot.reading.enqueue(slot.queue, opencl::groups(groups, group));
  slot.queue.wait(event);
  return seconds_between(event, event, context().name());
}

}  // namespace sightline::texture
