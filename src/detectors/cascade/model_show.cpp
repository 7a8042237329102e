// `sightline model show` of cascades.

#include "detectors/cascade/model_show.hpp"
#include "base/log.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/model_text.hpp"
#include "detectors/cascade/survivors.hpp"
#include "family/show_options.hpp"

namespace sightline::cascade {
namespace {

class CascadeShow : public ModelShow {
 public:
  OptionSet options() override {
    OptionSet options;
    survivors_.add_to(options);
    return options;
  }

  void show(const std::string& name, const ShowContext& context) override {
    const std::filesystem::path file = find_model(name, name);
    const std::size_t most = std::size_t(context.max_model_size.value_or(kMaxModelSize)) << 20;
    const Model model = load_model(file, most);
    if (survivors_.pictures.empty()) return context.print(model_text(file, model, nullptr));
    cascade::Options options;
    options.search.scale_step = survivors_.scale_step;
    const CascadeDetector detector(model, options);
    StageSurvivors survivors;
    context.pictures(survivors_.pictures,
                     [&](PictureView picture) { count_survivors(detector, picture, survivors); });
    if (survivors.windows == 0)
      logger().warn("no picture in '{}' is as large as the cascade's window", survivors_.pictures);
    context.print(model_text(file, model, &survivors));
  }

 private:
  SurvivorOptions survivors_;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<CascadeShow>();
}

}  // namespace sightline::cascade
