#include "detectors/waldboost/model_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "model/description.hpp"

namespace sightline::waldboost {
namespace {

constexpr int kTableSteps[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};

const char* kind_text(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::lbp:
      return "local binary patterns of 3x3 blocks (LBP)";
    case FeatureKind::lrp:
      return "rank patterns of two of 3x3 blocks (LRP)";
    case FeatureKind::lrd:
      return "differences of the ranks of two of 3x3 blocks (LRD)";
    case FeatureKind::haar:
      return "Haar-like features: the share of bright cells in the brightness";
  }
  return "";
}

// "12 of 1x1, 7 of 2x2": how many weak classifiers have blocks of each size; of Haar-like features, of each
// shape.
std::string describe_blocks(const Model& model) {
  std::string text;
  const auto add = [&](std::ptrdiff_t count, const std::string& what) {
    if (count > 0) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, what);
  };
  if (model.kind == FeatureKind::haar) {
    for (std::size_t shape = 0; shape < kHaarShapes.size(); ++shape)
      add(std::ranges::count(model.features, shape, &Feature::first), kHaarShapes[shape].name);
    return text;
  }
  for (int width = 1; width <= kMaxBlock; ++width) {
    for (int height = 1; height <= kMaxBlock; ++height) {
      const auto count = std::ranges::count_if(model.features, [&](const Feature& f) {
        return f.block_width == width && f.block_height == height;
      });
      add(count, fmt::format("{}x{}", width, height));
    }
  }
  return text;
}

// The least and the largest sum of all weak classifiers' responses.
std::string describe_scores(const Model& model) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (int weak = 0; weak < model.size(); ++weak) {
    const auto [low, high] = std::ranges::minmax(model.table(weak));
    least += low;
    most += high;
  }
  return fmt::format("{:.5g} to {:.5g}, in steps of {:.3g}", model.unit * static_cast<double>(least),
                     model.unit * static_cast<double>(most), model.unit);
}

std::string describe_weak_classifiers(const Model& model) {
  const auto without = std::ranges::count(model.thresholds, kNoThreshold);
  return fmt::format("{}, of which {} can reject", model.size(), model.size() - without);
}

// A line for each of some numbers of weak classifiers, the last for all of them.
std::string survivor_lines(const Model& model) {
  if (model.survivors.empty()) return property_line("survivors", "not known");
  std::set<int> counts{model.size()};
  for (const int count : kTableSteps) {
    if (count < model.size()) counts.insert(count);
  }
  std::string text = property_line("survivors", "windows without the object that are left");
  for (const int count : counts) {
    text += detail_line(fmt::format("after {}", count),
                        fmt::format("{:.3g}%", 100 * static_cast<double>(model.survivors[count - 1])));
  }
  return text;
}

}  // namespace

double expected_weak_classifiers(const Model& model) {
  if (model.survivors.empty()) return 0;
  double expected = 1;
  for (std::size_t i = 0; i + 1 < model.survivors.size(); ++i)
    expected += static_cast<double>(model.survivors[i]);
  return expected;
}

std::string model_text(const std::filesystem::path& file, const Model& model) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) { text += property_line(name, value); };
  add("file", fmt::format("{} ({} bytes)", file.string(), std::filesystem::file_size(file)));
  add("kind", "WaldBoost classifier");
  add("label", model.label);
  add("window", fmt::format("{} x {} pixels", model.window.width, model.window.height));
  add("features", kind_text(model.kind));
  add(model.kind == FeatureKind::haar ? "cells" : "blocks", describe_blocks(model));
  add("weak", describe_weak_classifiers(model));
  add("scores", describe_scores(model));
  if (model.box_scale != 1) add("boxes", fmt::format("{:g} times the window's sides", model.box_scale));
  add("threshold", fmt::format("{:g}", model.threshold));
  if (!model.survivors.empty()) {
    add("expected", fmt::format("{:.3g} weak classifiers for a window without the object",
                                expected_weak_classifiers(model)));
  }
  text += survivor_lines(model);
  return text + provenance_lines("provenance", model.provenance);
}

}  // namespace sightline::waldboost
