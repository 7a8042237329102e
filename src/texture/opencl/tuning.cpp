#include "texture/opencl/tuning.hpp"

#include "texture/opencl/stages.hpp"

namespace sightline::texture {
namespace {

using opencl::DeviceInfo;
using opencl::TuningValue;
using opencl::TuningValues;
using Devices = opencl::TuningSweep::Devices;

KernelTable make_table() {
  // On a CPU, a thread runs a work-group's items one after the other: one that needs no atomics is best.
  KernelTable table({
      {{"histogram", "local", "serial", {"global", "local", "mapreduce", "banked", "serial"}},
       &KernelTuning::histogram},
      {{"pixels", "word", "vector", {"word", "vector"}}, &KernelTuning::pixels},
      {{"group", kMostWorkItems, 1, {}, 1, kMostWorkItems}, &KernelTuning::group},
      {{"rows", 4, 32, {}, 1, 64}, &KernelTuning::rows},
      {{"copies", 32, 1, {1, 2, 4, 8, 16, 32}}, &KernelTuning::copies},
      {{"groups_a_unit", 1, 4, {}, 1, 64}, &KernelTuning::groups_a_unit},
  });
  table.fit_together = [](const TuningValues& values) {
    return std::get<std::string>(values.at("histogram")) != "serial" ||
           std::get<int>(values.at("group")) == 1;
  };
  const auto sweep = [](Devices devices, const char* histogram, std::vector<TuningValue> pixels,
                        std::vector<TuningValue> groups, std::vector<TuningValue> rows,
                        std::vector<TuningValue> copies, std::vector<TuningValue> groups_a_unit) {
    return opencl::TuningSweep{{{"histogram", {histogram}},
                                {"pixels", std::move(pixels)},
                                {"group", std::move(groups)},
                                {"rows", std::move(rows)},
                                {"copies", std::move(copies)},
                                {"groups_a_unit", std::move(groups_a_unit)}},
                               devices};
  };
  table.stages = {
      {"count",
       "count {histogram}, {copies} copies, {pixels} of pixels, {group} work-items, {rows} rows, "
       "{groups_a_unit} groups a unit",
       {sweep(Devices::cpu, "serial", {"vector"}, {1}, {8, 32}, {1}, {1, 4}),
        sweep(Devices::cpu, "global", {"vector"}, {16}, {8}, {1}, {4}),
        sweep(Devices::cpu, "local", {"vector"}, {16}, {8}, {1}, {4}),
        sweep(Devices::cpu, "mapreduce", {"vector"}, {16}, {8}, {1}, {4}),
        sweep(Devices::others, "global", {"word"}, {256}, {4}, {1}, {8}),
        sweep(Devices::others, "local", {"word"}, {256, 512, 1024}, {4, 9, 12}, {1}, {1, 2, 3, 8}),
        sweep(Devices::others, "mapreduce", {"word"}, {256, 512}, {4}, {1}, {4, 8}),
        sweep(Devices::others, "banked", {"word"}, {512, 1024}, {4, 12}, {8, 32}, {1, 2, 4})}},
  };
  return table;
}

}  // namespace

std::string to_string(const KernelTuning& t) {
  std::string text = t.histogram + ", " + t.pixels + " of pixels, " + std::to_string(t.group) +
                     " work-items, " + std::to_string(t.rows) + " rows, " + std::to_string(t.groups_a_unit) +
                     " groups a unit";
  if (t.histogram == "banked") text += ", " + std::to_string(t.copies) + " copies";
  return text;
}

const KernelTable& tuning_table() {
  static const KernelTable table = make_table();
  return table;
}

KernelTuning variant_tuning(std::string_view histogram, const DeviceInfo& device) {
  KernelTuning tuning = tuning_table().defaults(device);
  tuning.histogram = histogram;
  if (histogram == "serial") {
    tuning.group = 1;
  } else if (tuning.group == 1) {
    tuning.group = 16;
  }
  if (histogram == "banked" && tuning.copies == 1) tuning.copies = 4;
  return tuning;
}

std::string tuning_problem(const TextureSettings& settings) {
  std::string text = "texture";
  for (const LbpOperator& one : settings.operators) text += ", " + one.name();
  return text + ", " + to_string(settings.mapping);
}

KernelTuning best_tuning(const DeviceInfo& device, const TextureSettings& settings) {
  return tuning_table().best(device, tuning_problem(settings));
}

TuningOutcome tune(const FrameProcessor& processor, const opencl::Context& context,
                   opencl::ProgramCache* cache, PictureView frame, const TuneOptions& options) {
  const auto& texture = static_cast<const TextureProcessor&>(processor);
  return tune_kernels<TextureStages>(texture, context, cache, tuning_table(),
                                     tuning_problem(texture.settings()), frame, options);
}

}  // namespace sightline::texture
