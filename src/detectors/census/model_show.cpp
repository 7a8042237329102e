// `sightline model show` of census cascades.
#include <fmt/format.h>

#include <set>
#include <tuple>

#include "detectors/census/detector.hpp"
#include "detectors/census/model_show.hpp"
#include "family/show_options.hpp"
#include "model/description.hpp"

namespace sightline::census {
namespace {

std::string stage_line(const Model& model, int stage) {
  const int begin = model.first_weak(stage), end = model.stages[static_cast<std::size_t>(stage)].end;
  std::set<std::tuple<int, int, int>> places;
  int large = 0;
  for (int i = begin; i < end; ++i) {
    const WeakClassifier& weak = model.weak[static_cast<std::size_t>(i)];
    places.insert({weak.x, weak.y, weak.cell});
    large += weak.cell > 1 ? 1 : 0;
  }
  std::string text = fmt::format("{} places, {} weak classifiers", places.size(), end - begin);
  if (large > 0) text += fmt::format(", {} of them of cells of 2x2 pixels", large);
  if (!model.survivors.empty())
    text += fmt::format("; leaves {:.3g}% of the windows without the object",
                        100 * static_cast<double>(model.survivors[static_cast<std::size_t>(stage)]));
  return text;
}

std::string model_text(const std::filesystem::path& file, const Model& model) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) { text += property_line(name, value); };
  add("file", fmt::format("{} ({} bytes)", file.string(), std::filesystem::file_size(file)));
  add("kind", "census cascade");
  add("label", model.label);
  add("window", fmt::format("{} x {} pixels", model.window.width, model.window.height));
  if (model.box_scale != 1) add("boxes", fmt::format("{:g} times the window's sides", model.box_scale));
  add("threshold", fmt::format("{:g}", model.threshold));
  for (int view = 0; view < static_cast<int>(model.views.size()); ++view) {
    const View& of = model.views[static_cast<std::size_t>(view)];
    const int begin = model.first_stage(view);
    add("view", fmt::format("{}, {} stages", of.name, of.end - begin));
    for (int stage = begin; stage < of.end; ++stage)
      text += detail_line(fmt::format("stage {}", stage - begin + 1), stage_line(model, stage));
  }
  return text + provenance_lines("provenance", model.provenance);
}

class CensusShow : public ModelShow {
 public:
  OptionSet options() override {
    OptionSet options;
    survivors_.add_to(options);
    return options;
  }

  void show(const std::string& name, const ShowContext& context) override {
    Model model = load_model(name, std::uint64_t(context.max_model_size.value_or(kMaxModelSize)) << 20);
    if (!survivors_.pictures.empty()) {
      census::Options options;
      options.scale_step = survivors_.scale_step;
      const auto shares =
          survivor_shares(CensusDetector(model, options), model.stages.size(), survivors_.pictures, context);
      if (!shares.empty()) model.survivors = shares;
    }
    context.print(model_text(name, model));
  }

 private:
  SurvivorOptions survivors_;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<CensusShow>();
}

}  // namespace sightline::census
