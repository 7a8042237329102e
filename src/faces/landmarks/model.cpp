#include "faces/landmarks/model.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "faces/landmarks/shape.hpp"
#include "model/check.hpp"
#include "model/header.hpp"

namespace sightline::landmarks {
namespace {

constexpr std::string_view kVersion = "1";
// Points that lie closer together say nothing about turn and size.
constexpr std::int64_t kLeastSpread = std::int64_t{kCoordinates} * kPoints * kPoints * kUnit * kUnit;

std::string number(std::int64_t value) {
  return std::to_string(value);
}

void check_sizes(const Model& model, const ModelCheck& check) {
  check.integer("trees of depth ", model.depth, 1, kMaxDepth);
  check.count("stages", model.stages, kMaxStages);
  if (model.trees < 1 || std::int64_t{model.stages} * model.trees > kMaxTrees)
    check.fail(number(model.trees) + " trees a stage", "the limit is " + number(kMaxTrees) + " in total");
  check.integer("pixels a stage: ", model.pixels, 1, kMaxPixels);
}

void check_values(const Model& model, const ModelCheck& check) {
  for (const std::int32_t value : model.mean) {
    if (value < 0 || value > kPatchSide * kUnit)
      check.fail("a point begins at " + number(value),
                 "it must be inside the patch: 0 to " + number(kPatchSide * kUnit));
  }
  if (MeanShape(model.mean).norm() < kLeastSpread)
    check.fail("all points start at one position", "they must be at least a pixel apart");
  for (const PixelPlace& place : model.places) {
    if (place.anchor >= kPoints)
      check.fail("a pixel belongs to point " + number(place.anchor), "there are " + number(kPoints));
    if (std::max(std::abs(int{place.x}), std::abs(int{place.y})) > kPatchSide * kUnit)
      check.fail("a pixel is too far from its point", "the limit is " + number(kPatchSide) + " pixels");
  }
  for (const std::uint8_t shift : model.shifts) check.integer("a shift of ", shift, 0, kMaxShift);
  for (const Split& split : model.splits) {
    if (std::max(split.first, split.second) >= model.pixels)
      check.fail("a tree looks at pixel " + number(std::max(split.first, split.second)),
                 "a stage has " + number(model.pixels));
  }
}

void check_model(const Model& model, const ModelCheck& check) {
  check_sizes(model, check);
  const std::size_t stages = static_cast<std::size_t>(model.stages);
  const std::size_t trees = stages * static_cast<std::size_t>(model.trees);
  if (model.places.size() != stages * static_cast<std::size_t>(model.pixels) ||
      model.shifts.size() != stages ||
      model.splits.size() != trees * static_cast<std::size_t>(model.nodes()) ||
      model.leaves.size() != trees * static_cast<std::size_t>(model.leaves_of_tree()))
    check.fail("the length of an array does not fit the model's sizes", "train it again");
  check_values(model, check);
}

std::string point_names() {
  std::string names;
  for (const std::string_view name : kPointNames) names += (names.empty() ? "" : ",") + std::string(name);
  return names;
}

std::string patch_text() {
  return number(kBoxPixels) + "+" + number(kPatchMargin);
}

// Lengths along the dimensions of an array of that many; 0 if there is none.
int length(const Safetensors& file, const std::string& array, std::size_t dimension) {
  const TensorShape& shape = file.at(array).shape;
  return dimension < shape.size() ? static_cast<int>(std::min<std::int64_t>(shape[dimension], 1 << 30)) : 0;
}

void read_sizes(const Safetensors& file, Model& model) {
  model.stages = length(file, "thresholds", 0);
  model.trees = length(file, "thresholds", 1);
  const int nodes = length(file, "thresholds", 2);
  while (model.depth <= kMaxDepth && (1 << model.depth) - 1 < nodes) ++model.depth;
  model.pixels = length(file, "anchors", 1);
}

void read_arrays(const Safetensors& file, Model& model) {
  const std::int64_t stages = model.stages, trees = model.trees, nodes = model.nodes(), pixels = model.pixels;
  const auto mean = file.array<std::int32_t>("mean", {kPoints, 2});
  std::copy(mean.begin(), mean.end(), model.mean.begin());
  const auto anchors = file.array<std::uint8_t>("anchors", {stages, pixels});
  const auto offsets = file.array<std::int16_t>("offsets", {stages, pixels, 2});
  for (std::size_t i = 0; i < anchors.size(); ++i)
    model.places.push_back({anchors[i], offsets[2 * i], offsets[2 * i + 1]});
  const auto compared = file.array<std::uint8_t>("pixels", {stages, trees, nodes, 2});
  const auto thresholds = file.array<std::int8_t>("thresholds", {stages, trees, nodes});
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    model.splits.push_back({compared[2 * i], compared[2 * i + 1], thresholds[i]});
  const auto shifts = file.array<std::uint8_t>("shifts", {stages});
  model.shifts.assign(shifts.begin(), shifts.end());
  const auto leaves = file.array<std::int8_t>("leaves", {stages, trees, nodes + 1, kCoordinates});
  model.leaves.resize(leaves.size() / kCoordinates);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    model.leaves[i / kCoordinates][i % kCoordinates] = leaves[i];
}

}  // namespace

Model load_model(const std::filesystem::path& path, std::uint64_t max_bytes) {
  return read_model(Safetensors::load(path, max_bytes), path);
}

Model read_model(const Safetensors& file, const std::filesystem::path& path) {
  const ModelHeader header(file, path);
  header.expect("kind", kModelKind, "choose a model of landmarks");
  header.expect("version", kVersion, "train it again, or use the version that made it");
  header.expect("points", point_names(), "train it again on these points");
  header.expect("patch", patch_text(), "train it again, or use the version that made it");
  Model model;
  model.name = path.stem().string();
  if (const std::string* provenance = header.find("provenance")) model.provenance = *provenance;
  read_sizes(file, model);
  const ModelCheck check(header);
  check_sizes(model, check);
  read_arrays(file, model);
  check_model(model, check);
  return model;
}

bool looks_like_model(const std::filesystem::path& file) {
  return safetensors_kind(file) == kModelKind;
}

void save_model(const Model& model, const std::filesystem::path& file) {
  container_of(model).save(file);
}

Safetensors container_of(const Model& model) {
  check_model(model, ModelCheck());
  std::vector<std::uint8_t> anchors, compared;
  std::vector<std::int16_t> offsets;
  for (const PixelPlace& place : model.places) {
    anchors.push_back(place.anchor);
    offsets.insert(offsets.end(), {place.x, place.y});
  }
  std::vector<std::int8_t> thresholds, leaves;
  for (const Split& split : model.splits) {
    compared.insert(compared.end(), {split.first, split.second});
    thresholds.push_back(split.threshold);
  }
  for (const Leaf& leaf : model.leaves) leaves.insert(leaves.end(), leaf.begin(), leaf.end());
  const std::int64_t stages = model.stages, trees = model.trees, nodes = model.nodes(), pixels = model.pixels;
  Safetensors container;
  container.metadata = {{"kind", std::string(kModelKind)},
                        {"version", std::string(kVersion)},
                        {"points", point_names()},
                        {"patch", patch_text()}};
  if (!model.provenance.empty()) container.metadata["provenance"] = model.provenance;
  container.set<std::int32_t>("mean", {kPoints, 2}, model.mean);
  container.set<std::uint8_t>("anchors", {stages, pixels}, anchors);
  container.set<std::int16_t>("offsets", {stages, pixels, 2}, offsets);
  container.set<std::uint8_t>("pixels", {stages, trees, nodes, 2}, compared);
  container.set<std::int8_t>("thresholds", {stages, trees, nodes}, thresholds);
  container.set<std::uint8_t>("shifts", {stages}, model.shifts);
  container.set<std::int8_t>("leaves", {stages, trees, nodes + 1, kCoordinates}, leaves);
  return container;
}

}  // namespace sightline::landmarks
