// What `model show` prints of a filter-bank model: words and a picture.
#include <filesystem>

#include "base/error.hpp"
#include "filterbank/model_picture.hpp"
#include "filterbank/model_text.hpp"
#include "filterbank/tools.hpp"
#include "model/description.hpp"

namespace sightline::filterbank {
namespace {

namespace fs = std::filesystem;

class FilterbankShow : public ModelShow {
 public:
  OptionSet options() override {
    OptionSet options;
    options.add("--filters", &filters_, "Describe this size of the model (default: the largest)");
    options.add("--picture", &picture_,
                "PNG to write (default: the model's name with .png, in the current folder)");
    options.add("--no-picture", &no_picture_, "Describe in words only").excludes("--picture").harmless();
    return options;
  }

  void show(const std::string& file, const ShowContext& context) override {
    const std::uint64_t most = std::uint64_t(context.max_model_size.value_or(kMaxModelSize)) << 20;
    const Model model = load_model(file, filters_, most);
    context.print(model_text(file, model));
    context.print(sizes_text(load_models(file, most)));
    if (!no_picture_) context.print(property_line("picture", draw(file, model)));
  }

 private:
  // Returns what became of it.
  std::string draw(const fs::path& file, const Model& model) const {
    if (!can_draw(model)) return "not drawn: pictures are of 3x3 filters";
    const fs::path picture = picture_.empty() ? file.stem().string() + ".png" : picture_;
    std::error_code none;
    if (fs::equivalent(file, picture, none)) {
      throw Error(ExitCode::usage, "the picture would replace the model '" + file.string() + "'",
                  "give another name with --picture");
    }
    // A name that nobody gave must not cost anybody a file.
    if (picture_.empty() && fs::exists(picture, none))
      return "not drawn: '" + picture.string() + "' exists; name a file with --picture";
    draw_model(model).write_png(picture.string());
    return picture.string();
  }

  std::optional<int> filters_;
  std::string picture_;
  bool no_picture_ = false;
};

}  // namespace

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<FilterbankShow>();
}

}  // namespace sightline::filterbank
