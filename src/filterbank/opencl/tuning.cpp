#include "filterbank/opencl/tuner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace sightline::filterbank {
namespace fs = std::filesystem;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelTuning, filter, filter_width, filter_rows, filter_group,
                                   filter_group_rows, histogram, histogram_cells, normalise, normalise_width,
                                   classify, dot, classify_width, classify_rows, classify_group)

namespace {

std::string key_of(const opencl::DeviceInfo& device, int filters) {
  return device.platform + " | " + device.name + " | " + device.driver_version + " | " +
         std::to_string(filters);
}

// Whether the kernels can be built and launched so: the file may have been edited.
bool is_possible(const KernelTuning& t) {
  const auto one_of = [](const auto& value, std::initializer_list<std::decay_t<decltype(value)>> values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  const auto width = [&](int value) { return one_of(value, {1, 2, 4, 8, 16}); };
  const auto group = [](int value) { return value >= 1 && value <= 1024; };
  return one_of(t.filter, {"plain", "unrolled", "vector", "local"}) && width(t.filter_width) &&
         t.filter_rows >= 1 && t.filter_rows <= 8 && group(t.filter_group) && group(t.filter_group_rows) &&
         one_of(t.histogram, {"owner", "atomic"}) && one_of(t.histogram_cells, {16, 32}) &&
         one_of(t.normalise, {"blocks", "cells"}) && width(t.normalise_width) &&
         one_of(t.classify, {"plain", "unrolled", "vector", "local"}) &&
         one_of(t.dot, {"auto", "ptx", "khr", "float", "integer"}) && width(t.classify_width) &&
         (t.classify_width == 1 || !one_of(t.dot, {"ptx", "khr"})) && t.classify_rows >= 1 &&
         t.classify_rows <= 16 && group(t.classify_group);
}

struct Variant {
  std::string text;
  KernelTuning tuning;
  bool exact = true;
};

std::string shape(int width, int rows, int group, int group_rows) {
  return std::to_string(width) + "x" + std::to_string(rows) + " a work-item, " + std::to_string(group) + "x" +
         std::to_string(group_rows) + " a group";
}

std::vector<Variant> filter_variants(const KernelTuning& base, bool cpu, int width) {
  std::vector<Variant> variants;
  const auto add = [&](const std::string& variant, int w, int rows, int group, int group_rows) {
    KernelTuning t = base;
    t.filter = variant;
    t.filter_width = w;
    t.filter_rows = rows;
    t.filter_group = group;
    t.filter_group_rows = group_rows;
    variants.push_back({"filter " + variant + ", " + shape(w, rows, group, group_rows), t, true});
  };
  if (cpu) {
    add("plain", 1, 1, 64, 1);
    add("unrolled", 1, 1, 64, 1);
    for (const int rows : {1, 2, 3, 4}) add("vector", width, rows, 8, 4);
    add("vector", width, 4, 1, 8);
    add("local", width, 4, 8, 4);
  } else {
    add("plain", 1, 1, 32, 4);
    add("unrolled", 1, 1, 32, 4);
    for (const char* variant : {"vector", "local"}) {
      for (const auto& [w, rows] : {std::pair{1, 4}, {1, 8}, {2, 2}, {2, 4}, {4, 1}, {4, 2}, {4, 4}}) {
        add(variant, w, rows, 32, 4);
      }
      add(variant, 4, 2, 32, 8);
    }
  }
  return variants;
}

std::vector<Variant> histogram_variants(const KernelTuning& base) {
  std::vector<Variant> variants;
  for (const char* variant : {"owner", "atomic", "racy"}) {
    for (const int cells : {16, 32}) {
      KernelTuning t = base;
      t.histogram = variant;
      t.histogram_cells = cells;
      variants.push_back(
          {std::string("histogram ") + variant + ", " + std::to_string(cells) + " cells a group", t,
           std::string_view(variant) != "racy"});
    }
  }
  return variants;
}

std::vector<Variant> normalise_variants(const KernelTuning& base) {
  std::vector<Variant> variants;
  for (const char* variant : {"blocks", "cells"}) {
    for (const int width : {1, 2, 4, 8, 16}) {
      KernelTuning t = base;
      t.normalise = variant;
      t.normalise_width = width;
      variants.push_back(
          {"normalise by " + t.normalise + ", " + std::to_string(width) + " a work-item", t, true});
    }
  }
  return variants;
}

std::vector<Variant> classify_variants(const KernelTuning& base, const opencl::DeviceInfo& device,
                                       int native_width) {
  std::vector<Variant> variants;
  const bool cpu = device.type == opencl::DeviceType::cpu;
  std::vector<std::string> dots{"integer", "float"};
  if (!cpu && device.vendor.find("NVIDIA") != std::string::npos) dots.push_back("ptx");
  if (!cpu && device.integer_dot_product) dots.push_back("khr");
  for (const std::string& dot : dots) {
    const auto add = [&](const std::string& variant, int width, int rows, int group) {
      KernelTuning t = base;
      t.classify = variant;
      t.dot = dot;
      t.classify_width = width;
      t.classify_rows = rows;
      t.classify_group = group;
      variants.push_back({"classify " + variant + ", " + dot + ", " + shape(width, rows, group, 1), t, true});
    };
    const int width = cpu ? native_width : 1;
    add("plain", 1, 1, cpu ? 16 : 64);
    add("unrolled", 1, 1, cpu ? 16 : 64);
    for (const int rows : {4, 8, 16}) {
      for (const int group : cpu ? std::vector<int>{1} : std::vector<int>{32, 64})
        add("vector", width, rows, group);
    }
    if (cpu) {
      add("local", width, 8, 2);
    } else {
      for (const int rows : {8, 16}) add("local", width, rows, 64);
    }
  }
  return variants;
}

class Tuner {
 public:
  Tuner(const FilterbankDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
        PictureView frame, const std::function<void(const TuningTrial&)>& report)
      : detector_(detector),
        context_(context),
        cache_(cache),
        frame_(frame),
        report_(report),
        workspace_(detector.make_workspace()) {
    auto& w = static_cast<FilterbankWorkspace&>(*workspace_);
    if (!detector.prepare(w, frame)) throw Error(ExitCode::input, "the frame is too small to tune with");
    expected_ = detect(detector, w, frame);
    for (const Level& level : w.levels) {
      filter_operations_ +=
          9.0 * detector.model().dictionary.size() * level.plan.size.width * level.plan.size.height;
      classify_operations_ +=
          static_cast<double>(detector.model().weights.size()) * level.windows_x * level.windows_y;
    }
  }

  // Times the variants and returns the best.
  KernelTuning best_of(const std::string& stage, const std::vector<Variant>& variants,
                       const KernelTuning& fallback) {
    const double operations = stage == "filter"     ? filter_operations_
                              : stage == "classify" ? classify_operations_
                                                    : 0;
    KernelTuning best = fallback;
    double best_seconds = std::numeric_limits<double>::max();
    std::vector<TuningTrial> trials;
    std::size_t winner = variants.size();
    for (const Variant& variant : variants) {
      TuningTrial trial{stage, variant.text, 0, operations, "", variant.exact, false};
      try {
        trial.seconds = time(stage, variant);
        if (variant.exact && trial.seconds < best_seconds) {
          best_seconds = trial.seconds;
          best = variant.tuning;
          winner = trials.size();
        }
      } catch (const opencl::DeviceError& e) {  // a variant that this device does not take
        trial.failure = e.what();
      }
      trials.push_back(trial);
    }
    if (winner < trials.size()) trials[winner].best = true;
    for (const TuningTrial& trial : trials) report_(trial);
    return best;
  }

 private:
  double time(const std::string& stage, const Variant& variant) {
    constexpr int kRuns = 5;
    auto& w = static_cast<FilterbankWorkspace&>(*workspace_);
    const OpenClStages stages(detector_, context_, cache_, variant.tuning);
    OpenClSlot slot(stages);
    double best = std::numeric_limits<double>::max();
    for (int run = 0; run <= kRuns; ++run) {  // the first one warms up
      detector_.prepare(w, frame_);
      stages.run(slot, w);
      const std::vector<Detection> found = detector_.take_detections(w);
      if (variant.exact && found != expected_) {
        throw Error(ExitCode::failed,
                    variant.text + " gives other results than the CPU on '" + context_.name() + "'",
                    "this is a defect of the driver or of Sightline: use --device none, and report it");
      }
      for (const DeviceSpan& span : slot.spans) {
        if (span.name == stage && run > 0) best = std::min(best, span.seconds(context_.name()));
      }
    }
    return best;
  }

  const FilterbankDetector& detector_;
  const opencl::Context& context_;
  opencl::ProgramCache* cache_;
  PictureView frame_;
  const std::function<void(const TuningTrial&)>& report_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<Detection> expected_;
  double filter_operations_ = 0;
  double classify_operations_ = 0;
};

}  // namespace

fs::path TuningDatabase::default_file() {
  const fs::path kernels = opencl::ProgramCache::default_folder();
  return kernels.empty() ? fs::path() : kernels.parent_path() / "tuning.json";
}

std::optional<KernelTuning> TuningDatabase::find(const opencl::DeviceInfo& device, int filters) const {
  const nlohmann::json found = store_.find(key_of(device, filters));
  if (found.is_null()) return std::nullopt;
  std::string reason = "values out of range";
  try {
    const auto tuning = found.get<KernelTuning>();
    if (is_possible(tuning)) return tuning;
  } catch (const nlohmann::json::exception& e) {
    reason = e.what();
  }
  spdlog::warn("{}: entry for '{}' is not understood ({}); run `sightline tune`", file().string(),
               device.name, reason);
  return std::nullopt;
}

void TuningDatabase::store(const opencl::DeviceInfo& device, int filters, const KernelTuning& tuning) const {
  store_.store(key_of(device, filters), tuning);
}

FrameTimes time_frame(const FilterbankDetector& detector, const opencl::Context& context,
                      opencl::ProgramCache* cache, PictureView frame, const KernelTuning& tuning, int runs) {
  const std::unique_ptr<Workspace> workspace = detector.make_workspace();
  auto& w = static_cast<FilterbankWorkspace&>(*workspace);
  if (!detector.prepare(w, frame)) throw Error(ExitCode::input, "the frame is too small to be searched");
  const OpenClStages stages(detector, context, cache, tuning);
  OpenClSlot slot(stages);
  FrameTimes best;
  for (int run = 0; run <= runs; ++run) {
    detector.prepare(w, frame);
    const auto start = std::chrono::steady_clock::now();
    stages.run(slot, w);
    const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run == 0 || (run > 1 && host >= best.host)) continue;
    best = {};
    best.host = host;
    for (const DeviceSpan& span : slot.spans) {
      best.stages.push_back({std::string(span.name), span.seconds(context.name())});
    }
    best.device = seconds_between(slot.spans.front().first, slot.spans.back().end(), context.name());
  }
  return best;
}

KernelTuning tune(const FilterbankDetector& detector, const opencl::Context& context,
                  opencl::ProgramCache* cache, PictureView frame,
                  const std::function<void(const TuningTrial&)>& report) {
  const opencl::DeviceInfo& device = context.device();
  const bool cpu = device.type == opencl::DeviceType::cpu;
  const int width = std::clamp(device.native_float_width, 4, 16);
  Tuner tuner(detector, context, cache, frame, report);
  KernelTuning best = default_tuning(device);
  best = tuner.best_of("filter", filter_variants(best, cpu, width), best);
  best = tuner.best_of("histogram", histogram_variants(best), best);
  best = tuner.best_of("normalise", normalise_variants(best), best);
  best = tuner.best_of("classify", classify_variants(best, device, width), best);
  return best;
}

}  // namespace sightline::filterbank
