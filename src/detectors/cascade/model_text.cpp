#include "detectors/cascade/model_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sightline::cascade {
namespace {

void add(std::string& text, const char* name, const std::string& value) {
  text += fmt::format("{:<14} {}\n", name, value);
}

std::string describe_features(const Model& model) {
  if (model.kind == FeatureKind::lbp)
    return fmt::format("{} local binary patterns of 3x3 blocks", model.lbp.size());
  const auto tilted =
      std::count_if(model.haar.begin(), model.haar.end(), [](const auto& f) { return f.tilted; });
  const auto three =
      std::count_if(model.haar.begin(), model.haar.end(), [](const auto& f) { return f.weights[2] != 0; });
  return fmt::format("{} Haar features, {} of three rectangles, {} tilted", model.haar.size(), three, tilted);
}

std::string describe_trees(const Model& model) {
  if (model.max_tree_nodes == 1) return fmt::format("{} stumps", model.trees.size());
  return fmt::format("{} of up to {} nodes, {} nodes in all", model.trees.size(), model.max_tree_nodes,
                     model.nodes.size());
}

std::int64_t nodes_of(const Model& model, const BoostingStage& stage) {
  std::int64_t nodes = 0;
  for (int tree = 0; tree < stage.trees; ++tree) nodes += model.trees[stage.first_tree + tree].nodes;
  return nodes;
}

}  // namespace

std::string model_text(const std::filesystem::path& file, const Model& model,
                       const StageSurvivors* survivors) {
  std::string text;
  add(text, "file", fmt::format("{} ({} bytes)", file.string(), std::filesystem::file_size(file)));
  add(text, "kind",
      fmt::format("OpenCV cascade of {} features", model.kind == FeatureKind::lbp ? "LBP" : "Haar"));
  add(text, "window", fmt::format("{} x {} pixels", model.window.width, model.window.height));
  add(text, "features", describe_features(model));
  add(text, "trees", describe_trees(model));
  add(text, "stages", std::to_string(model.stages.size()));
  const bool counted = survivors && survivors->windows > 0;
  text += fmt::format("  {:>5} {:>6} {:>6} {:>11}", "stage", "trees", "nodes", "threshold");
  if (counted) text += fmt::format(" {:>12} {:>10} {:>10}", "pass", "of all", "of these");
  text += '\n';
  std::int64_t before = counted ? survivors->windows : 0;
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    const BoostingStage& stage = model.stages[i];
    text += fmt::format("  {:>5} {:>6} {:>6} {:>11.5g}", i + 1, stage.trees, nodes_of(model, stage),
                        stage.threshold);
    if (counted) {
      const std::int64_t passed = survivors->passed[i];
      const auto share = [&](std::int64_t of) {
        return of == 0
                   ? std::string("-")
                   : fmt::format("{:.4g}%", 100.0 * static_cast<double>(passed) / static_cast<double>(of));
      };
      text += fmt::format(" {:>12} {:>10} {:>10}", passed, share(survivors->windows), share(before));
      before = passed;
    }
    text += '\n';
  }
  if (counted) text += fmt::format("  {} windows on all scales\n", survivors->windows);
  return text;
}

}  // namespace sightline::cascade
