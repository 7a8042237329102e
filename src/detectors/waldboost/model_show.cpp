// `sightline model show` of WaldBoost models.
#include <fmt/format.h>

#include "detectors/waldboost/detector.hpp"
#include "detectors/waldboost/model_picture.hpp"
#include "detectors/waldboost/model_show.hpp"
#include "detectors/waldboost/model_text.hpp"
#include "family/show_options.hpp"
#include "model/description.hpp"

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
    if (!survivors_.pictures.empty()) {
      waldboost::Options options;
      options.scale_step = survivors_.scale_step;
      const auto shares = survivor_shares(WaldboostDetector(model, options), model.features.size(),
                                          survivors_.pictures, context);
      if (!shares.empty()) model.survivors = shares;
    }
    context.print(model_text(name, model));
    if (picture_.is_wanted())
      context.print(property_line("picture", picture_.write(name, [&] { return draw_model(model); })));
  }

 private:
  ModelPicture picture_;
  SurvivorOptions survivors_;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<WaldboostShow>();
}

}  // namespace sightline::waldboost
