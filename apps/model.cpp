// `sightline model show`: what a model file holds, in words and as a picture.
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cascade_text.hpp"
#include "commands.hpp"
#include "detector_options.hpp"
#include "evaluation/report.hpp"
#include "filterbank/model.hpp"
#include "filterbank/model_picture.hpp"
#include "media/reader.hpp"
#include "media_options.hpp"
#include "model/safetensors.hpp"
#include "stop.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using filterbank::ClassifierKind;
using filterbank::Model;

struct ShowArguments {
  std::optional<int> max_size;  ///< of the model, MiB
  std::string file;
  std::optional<int> filters;
  std::string picture;
  bool no_picture = false;
  std::string survivors;
  double scale_step = 1.1;
};

void print(const char* name, const std::string& text) {
  std::printf("%-14s %s\n", name, text.c_str());
}

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string describe_dictionary(const Model& model) {
  int largest = 0;
  for (const filterbank::Filter& filter : model.dictionary.filters()) {
    for (const int c : filter) largest = std::max(largest, std::abs(c));
  }
  if (model.dictionary.patch() == 5) return format("%d filters of 5x5, float", model.dictionary.size());
  return format("%d filters of 3x3, 8-bit coefficients up to %d, and their float form",
                model.dictionary.size(), largest);
}

std::string describe_weights(const Model& model) {
  std::size_t positive = 0;
  std::size_t negative = 0;
  for (const int w : model.weights) {
    positive += w > 0;
    negative += w < 0;
  }
  const double percent = 100.0 / static_cast<double>(model.weights.size());
  return format("%zu of 8 bits: %.0f%% above 0, %.0f%% below, %.0f%% zero", model.weights.size(),
                percent * static_cast<double>(positive), percent * static_cast<double>(negative),
                percent * static_cast<double>(model.weights.size() - positive - negative));
}

std::string describe_network(const filterbank::Network& network) {
  const std::size_t count = network.convolutions.size();
  return format(
      "%zu convolution%s, %.3g million multiply-adds a window; first-stage threshold %g, weight %g, limit %g",
      count, count == 1 ? "" : "s", 1e-6 * network.multiply_adds(), network.first_stage_threshold,
      network.weight, network.limit);
}

// JSON with a line a value; anything else as it is.
void print_provenance(const char* name, const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    print(name, text.empty() ? "none" : text);
    return;
  }
  print(name, json.empty() ? "none" : "");
  for (const auto& [key, value] : json.items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    std::printf("  %-18s %s\n", key.c_str(), shown.empty() ? "-" : shown.c_str());
  }
}

// A line a size, with how good it was found to be; the data once behind all sizes that share them.
void print_sizes(const std::vector<Model>& sizes) {
  print("sizes", std::to_string(sizes.size()) + (sizes.size() > 1 ? ", chosen with --filters" : ""));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto& evaluation = sizes[i].evaluation;
    const std::string size = format("%d filters", sizes[i].dictionary.size());
    if (!evaluation) {
      std::printf("  %-18s not evaluated\n", size.c_str());
      continue;
    }
    std::printf("  %-18s misses %s at 1e-4 and %s at 1e-5 false positives a window\n", size.c_str(),
                percent(evaluation->miss_rate_at_1e4).c_str(), percent(evaluation->miss_rate_at_1e5).c_str());
    const bool shared =
        i + 1 < sizes.size() && sizes[i + 1].evaluation && sizes[i + 1].evaluation->data == evaluation->data;
    if (!shared) std::printf("  %-18s %s\n", "measured on", evaluation->data.c_str());
  }
}

void describe(const fs::path& file, const Model& model) {
  const auto header = Safetensors::load(file).metadata;
  const bool linear = model.classifier == ClassifierKind::linear;
  const Size window = model.window.pixels();
  print("file", file.string() + format(" (%ju bytes)", static_cast<std::uintmax_t>(fs::file_size(file))));
  print("kind", header.at("kind") + ", version " + header.at("version"));
  print("label", model.label);
  print("window", format("%d x %d pixels: %d x %d cells of 8x8, %d x %d blocks of 2x2 cells", window.width,
                         window.height, model.window.cells_x, model.window.cells_y, model.window.blocks_x(),
                         model.window.blocks_y()));
  print("object", format("%g x %g pixels at (%g, %g) of the window", model.object.width, model.object.height,
                         model.object.x, model.object.y));
  print("dictionary", describe_dictionary(model));
  print("normalisation", header.at("normalisation") + format(", epsilon %d", model.epsilon));
  print("contrast", model.descriptor.contrast_sensitive
                        ? "sensitive: two bins a filter, for responses above and below 0"
                        : "insensitive: one bin a filter");
  if (model.descriptor.patterns) print("patterns", "uniform local binary patterns, 59 bins a block");
  if (!model.descriptor.exact()) print("runs", "by the reference method, on the CPU only");
  print("classifier", linear ? "linear: score = (sum of weight * feature + bias) * scale"
                             : "distance: score = (bias - squared distance to the nearest template) * scale");
  print("templates", std::to_string(model.templates()) + (linear ? " (a linear classifier has one)" : ""));
  print("weights", describe_weights(model));
  print("bias", std::to_string(model.bias) + (linear ? format(" (a flat window scores %.3f)",
                                                              static_cast<double>(model.bias) * model.scale)
                                                     : ""));
  print("scale", format("%g", model.scale));
  print("threshold", format("%g", model.threshold));
  print_provenance("provenance", model.provenance);
  if (model.network.empty()) return;
  print("network", describe_network(model.network));
  print_provenance("its provenance", model.network.provenance);
}

void refuse(bool given, const char* option, const std::string& file) {
  if (!given) return;
  throw Error(ExitCode::usage, std::string(option) + " does nothing for the model '" + file + "'",
              "leave it out");
}

int show_cascade(const ShowArguments& arguments) {
  refuse(arguments.filters.has_value(), "--filters", arguments.file);
  refuse(!arguments.picture.empty(), "--picture", arguments.file);
  const fs::path file = cascade::find_model(arguments.file, arguments.file);
  const std::size_t most = std::size_t(arguments.max_size.value_or(cascade::kMaxModelSize)) << 20;
  const cascade::Model model = cascade::load_model(file, most);
  if (arguments.survivors.empty()) {
    std::fputs(cascade_text(file, model, nullptr).c_str(), stdout);
    return 0;
  }
  require_present(arguments.survivors);
  cascade::Options options;
  options.search.scale_step = arguments.scale_step;
  const cascade::CascadeDetector detector(model, options);
  cascade::StageSurvivors survivors;
  media::ReadOptions reading;
  reading.stop = &stop_requested();
  media::Reader reader(arguments.survivors, reading);
  while (const auto frame = reader.read()) {
    if (stop_requested()) break;
    cascade::count_survivors(detector, frame->view(), survivors);
  }
  if (stop_requested()) throw Error(ExitCode::failed, "stopped on request before there was a result");
  if (survivors.windows == 0)
    spdlog::warn("no picture in '{}' is as large as the cascade's window", arguments.survivors);
  std::fputs(cascade_text(file, model, &survivors).c_str(), stdout);
  return 0;
}

int show(const ShowArguments& arguments) {
  const fs::path file = arguments.file;
  if (is_cascade_model(arguments.file)) return show_cascade(arguments);
  refuse(!arguments.survivors.empty(), "--survivors", arguments.file);
  const std::uint64_t most = std::uint64_t(arguments.max_size.value_or(filterbank::kMaxModelSize)) << 20;
  const Model model = filterbank::load_model(file, arguments.filters, most);
  describe(file, model);
  print_sizes(filterbank::load_models(file, most));
  if (arguments.no_picture) return 0;
  if (!filterbank::can_draw(model)) {
    print("picture", "not drawn: pictures are of 3x3 filters");
    return 0;
  }
  const fs::path picture = arguments.picture.empty() ? file.stem().string() + ".png" : arguments.picture;
  std::error_code none;
  if (fs::equivalent(file, picture, none)) {
    throw Error(ExitCode::usage, "the picture would replace the model '" + file.string() + "'",
                "give another name with --picture");
  }
  // A name that nobody gave must not cost anybody a file.
  if (arguments.picture.empty() && fs::exists(picture, none)) {
    print("picture", "not drawn: '" + picture.string() + "' exists; name a file with --picture");
    return 0;
  }
  filterbank::draw_model(model).write_png(picture.string());
  print("picture", picture.string());
  return 0;
}

}  // namespace

void add_model(CLI::App& app, Common& common) {
  CLI::App* model = app.add_subcommand("model", "Look into a model file");
  model->require_subcommand(1);
  CLI::App* command = model->add_subcommand("show", "Describe a model, and draw what it has learned");
  auto a = std::make_shared<ShowArguments>();
  command->add_option("file", a->file, "Model file: Sightline's (.safetensors), or an OpenCV cascade (.xml)")
      ->required();
  command->add_option("--filters", a->filters, "Describe this size of the model (default: the largest)");
  CLI::Option* survivors = command->add_option(
      "--survivors", a->survivors,
      "Cascades: a picture or folder of pictures on which to count the windows that get past each stage");
  command->add_option("--scale-step", a->scale_step, "Ratio of neighbouring scales, with --survivors")
      ->check(CLI::Range(1.01, 8.0))
      ->capture_default_str()
      ->needs(survivors);
  CLI::Option* picture = command->add_option(
      "--picture", a->picture, "PNG to write (default: the model's name with .png, in the current folder)");
  add_model_size_option(*command, a->max_size);
  command->add_flag("--no-picture", a->no_picture, "Describe in words only")->excludes(picture);
  command->callback([a, &common] { common.run = [a] { return show(*a); }; });
}

}  // namespace sightline::apps
