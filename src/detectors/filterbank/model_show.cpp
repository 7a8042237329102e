// Text and picture of a filter-bank model for `model show`.
#include <filesystem>

#include "detectors/filterbank/model_picture.hpp"
#include "detectors/filterbank/model_show.hpp"
#include "detectors/filterbank/model_text.hpp"
#include "family/show_options.hpp"
#include "model/description.hpp"

namespace sightline::filterbank {
namespace {

class FilterbankShow : public ModelShow {
 public:
  OptionSet options() override {
    OptionSet options;
    options.add("--filters N", &filters_, "Number of filters to describe (default: the largest size)");
    picture_.add_to(options);
    return options;
  }

  void show(const std::string& file, const ShowContext& context) override {
    const std::uint64_t most = std::uint64_t(context.max_model_size.value_or(kMaxModelSize)) << 20;
    const Model model = load_model(file, filters_, most);
    context.print(model_text(file, model));
    context.print(sizes_text(load_models(file, most)));
    if (picture_.is_wanted()) context.print(property_line("picture", draw(file, model)));
  }

 private:
  // Returns what became of it.
  std::string draw(const std::filesystem::path& file, const Model& model) const {
    if (!can_draw(model)) return "not drawn: only 3x3 filters can be drawn";
    return picture_.write(file, [&] { return draw_model(model); });
  }

  std::optional<int> filters_;
  ModelPicture picture_;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<FilterbankShow>();
}

}  // namespace sightline::filterbank
