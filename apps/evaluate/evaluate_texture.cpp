// `sightline evaluate texture`: how well pictures of textures are told apart by their tiles.
#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/texture/texture_options.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "media/folder.hpp"
#include "texture/classification.hpp"
#include "texture/processor.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using texture::Classification;
using texture::LabelledTexture;
using texture::TextureRecord;

struct EvaluateTextureArguments {
  std::string folder;
  int tile = 128;
  std::string distance = "chi-square";
  bool known_only = false;
  std::string json;
  TextureOptions options{comparing_defaults()};
};

// The tiles of all pictures: the first, the third, ... of each are known, the others are asked for.
struct Tiles {
  std::vector<std::string> classes;
  std::vector<LabelledTexture> known;
  std::vector<LabelledTexture> queries;
};

// A tile as a picture by itself: no pixel around it is looked at, and those at its edge have no code.
TextureRecord describe_tile(const texture::TextureProcessor& processor, const TextureChoice& choice,
                            tiles::Picture& picture, const tiles::Region& where) {
  Image<std::uint8_t> pixels(where.width, where.height);
  const ImageView<std::uint8_t> view = pixels.view();
  const tiles::Channel luma = tiles::Channel::luma;
  const std::vector<tiles::Damage> damage = picture.read(where, {&luma, 1}, {&view, 1});
  if (!damage.empty()) throw Error(ExitCode::input, "cannot read a tile: " + damage.front().reason);
  const auto workspace = processor.make_workspace();
  FrameResult result;
  if (!run_stages(processor, *workspace, PictureView(std::as_const(pixels).view())))
    throw Error(ExitCode::usage,
                fmt::format("tiles of {} pixels are too small for the operators", where.width),
                "use larger --tiles");
  processor.take_result(*workspace, result);
  texture::TextureTotals totals(choice.settings, 1);
  totals.add(0, static_cast<const texture::TextureOutput&>(*result.output));
  return texture::make_record(choice.settings, {"luma"}, totals);
}

Tiles cut(const EvaluateTextureArguments& a, const TextureChoice& choice) {
  const texture::TextureProcessor processor(choice.settings);
  Tiles all;
  for (const fs::path& file : media::list_images(a.folder)) {
    throw_if_stopped();
    const auto picture = tiles::open_picture(file);
    const std::int64_t columns = picture->info().width / a.tile;
    const std::int64_t count = columns * (picture->info().height / a.tile);
    if (count < 2)
      throw Error(ExitCode::input,
                  fmt::format("'{}' has fewer than two tiles of {} pixels", file.string(), a.tile),
                  "use smaller --tiles");
    std::vector<LabelledTexture> tiles(static_cast<std::size_t>(count));
    tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t i) {
      const tiles::Region where{i % columns * a.tile, i / columns * a.tile, a.tile, a.tile};
      tiles[static_cast<std::size_t>(i)] = {all.classes.size(),
                                            describe_tile(processor, choice, *picture, where)};
    });
    for (std::size_t i = 0; i < tiles.size(); ++i)
      (i % 2 == 0 ? all.known : all.queries).push_back(std::move(tiles[i]));
    all.classes.push_back(file.stem().string());
  }
  return all;
}

void print_classification(const char* what, const Classification& found) {
  const texture::Interval interval = texture::bootstrap_interval(found.class_accuracies());
  std::printf("%s: %lld of %lld right, %s (%s to %s, other textures drawn from these)\n", what,
              static_cast<long long>(found.right()), static_cast<long long>(found.total()),
              percent(found.accuracy()).c_str(), percent(interval.low).c_str(),
              percent(interval.high).c_str());
}

// A row a class, as far as a terminal has room for the columns.
void print_confusion(const Classification& found) {
  constexpr std::size_t kMostColumns = 150;
  std::size_t width = 5;
  for (const std::string& name : found.classes) width = std::max(width, name.size() + 1);
  if (width * (found.classes.size() + 1) > kMostColumns) {
    for (std::size_t i = 0; i < found.classes.size(); ++i) {
      for (std::size_t j = 0; j < found.classes.size(); ++j) {
        if (i != j && found.confusion[i][j] > 0)
          std::printf("  %lld of %s taken for %s\n", static_cast<long long>(found.confusion[i][j]),
                      found.classes[i].c_str(), found.classes[j].c_str());
      }
    }
    return;
  }
  std::string text = fmt::format("\n{:<{}}", "", width);
  for (const std::string& name : found.classes) text += fmt::format("{:>{}}", name, width);
  text += "   taken for\n";
  for (std::size_t i = 0; i < found.classes.size(); ++i) {
    text += fmt::format("{:<{}}", found.classes[i], width);
    for (const std::int64_t count : found.confusion[i])
      text += fmt::format("{:>{}}", count == 0 ? "." : std::to_string(count), width);
    text += '\n';
  }
  std::fputs(text.c_str(), stdout);
}

nlohmann::ordered_json classification_json(const Classification& found) {
  const texture::Interval interval = texture::bootstrap_interval(found.class_accuracies());
  return {{"right", found.right()},
          {"total", found.total()},
          {"accuracy", found.accuracy()},
          {"interval", {interval.low, interval.high}},
          {"confusion", found.confusion}};
}

int run_evaluate_texture(const EvaluateTextureArguments& a) {
  require_writable(a.json);
  const TextureChoice choice = a.options.choice();
  const texture::DistanceKind kind = texture::parse_distance_kind(a.distance).value();
  const Tiles tiles = cut(a, choice);
  std::printf("%zu textures, %zu known tiles of %dx%d and %zu others; %s, %s\n", tiles.classes.size(),
              tiles.known.size(), a.tile, a.tile, tiles.queries.size(),
              tiles.known.front().record.kind().c_str(), a.distance.c_str());
  const Classification left_out = classify_left_out(tiles.classes, tiles.known, kind);
  print_classification("known tiles, each against the other known ones", left_out);
  nlohmann::ordered_json json{{"classes", tiles.classes},
                              {"histograms", tiles.known.front().record.kind()},
                              {"distance", a.distance},
                              {"tile", a.tile},
                              {"known", classification_json(left_out)}};
  if (!a.known_only) {
    const Classification found = classify(tiles.classes, tiles.known, tiles.queries, kind);
    print_classification("the other tiles, each against the known ones", found);
    print_confusion(found);
    json["others"] = classification_json(found);
  }
  if (!a.json.empty()) write_report(a.json, json_text(json, 1) + "\n");
  return 0;
}

}  // namespace

void add_evaluate_texture(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<EvaluateTextureArguments>();
  OptionSet options;
  options.add("folder", &a->folder, "Folder of pictures, each of one texture").require();
  options.add("--tiles PX", &a->tile, "Side of the tiles of a picture, in pixels")
      .between(8, 8192)
      .show_default();
  options.add("--distance MEASURE", &a->distance, "Distance between histograms, as shares of the pixels")
      .one_of({"chi-square", "intersection", "hellinger"})
      .show_default();
  options.add("--known-only", &a->known_only,
              "Compare the known tiles alone, to choose operators or a distance");
  options.add("--json FILE", &a->json, "Write the figures as JSON").checked_by(OutputFile{{".json"}});
  options.group("Texture");
  a->options.add_operators_to(options);
  add_command(evaluate, common, "texture",
              "Measure how well textures are told apart: the first, third, ... tile of each picture is "
              "known, and the nearest of each other tile is counted",
              options, [a] { return run_evaluate_texture(*a); });
}

}  // namespace sightline::apps
