// `sightline model show` of WaldBoost models.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "family/show_options.hpp"
#include "model/description.hpp"
#include "waldboost/detector.hpp"
#include "waldboost/model_picture.hpp"
#include "waldboost/model_text.hpp"
#include "waldboost/tools.hpp"

namespace sightline::waldboost {
namespace {

class WaldboostShow : public ModelShow {
 public:
  OptionSet options() override {
    OptionSet options;
    picture_.add_to(options);
    survivors_.add_to(options);
    return options;
  }

  void show(const std::string& name, const ShowContext& context) override {
    Model model = load_model(name, std::uint64_t(context.max_model_size.value_or(kMaxModelSize)) << 20);
    if (!survivors_.pictures.empty()) count_survivors(model, context);
    context.print(model_text(name, model));
    if (picture_.is_wanted())
      context.print(property_line("picture", picture_.write(name, [&] { return draw_model(model); })));
  }

 private:
  // Takes the place of the curve in the model.
  void count_survivors(Model& model, const ShowContext& context) const {
    waldboost::Options options;
    options.scale_step = survivors_.scale_step;
    const WaldboostDetector detector(model, options);
    const auto workspace = detector.make_workspace();
    auto& own = static_cast<WaldboostWorkspace&>(*workspace);
    std::vector<std::int64_t> left(model.features.size());
    std::int64_t windows = 0;
    context.pictures(survivors_.pictures, [&](PictureView picture) {
      if (!detector.prepare(own, picture)) return;
      detector.run_stage(kPyramid, own);
      windows += detector.count_left(own, left);
    });
    if (windows == 0) {
      spdlog::warn("no picture in '{}' is as large as the model's window", survivors_.pictures);
      return;
    }
    model.survivors.clear();
    for (const std::int64_t count : left)
      model.survivors.push_back(
          static_cast<float>(static_cast<double>(count) / static_cast<double>(windows)));
  }

  ModelPicture picture_;
  SurvivorOptions survivors_;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<WaldboostShow>();
}

}  // namespace sightline::waldboost
