// `sightline texture classify`: the class of each cell of a picture.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include "apps/cli/commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/texture/class_map.hpp"
#include "apps/texture/texture_known.hpp"
#include "apps/texture/texture_run.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"

namespace sightline::apps {
namespace {

using texture::CellClassifier;
using texture::TextureOutput;

// A map in memory takes 21 bytes a cell.
constexpr std::int64_t kMostMapCells = std::int64_t{1} << 24;
constexpr std::size_t kMostSampleCounts = std::size_t{1} << 28;

struct ClassifyArguments {
  std::string picture;
  std::vector<std::string> known;
  std::vector<std::string> outputs;
  int cell = 64;
  std::string distance = "chi-square";
  std::optional<double> limit;
  TextureOptions options{comparing_defaults()};
};

// Known cells of a class.
struct Sample {
  std::string name;
  std::vector<std::uint32_t> counts;  ///< histograms of a cell after the other
};

// Takes the whole cells of samples: fewer pixels would make other histograms.
class SampleCells : public texture::CellSink {
 public:
  explicit SampleCells(int cell) : cell_(cell) {}

  void take_into(std::vector<std::uint32_t>& counts) { counts_ = &counts; }
  void begin(std::int64_t width, std::int64_t height) override {
    columns_ = width / cell_;
    rows_ = height / cell_;
  }
  void write(std::int64_t column, std::int64_t row, std::span<const TextureOutput* const> channels) override {
    const Size cells = channels.front()->cells;
    for (int y = 0; y < cells.height && row + y < rows_; ++y) {
      for (int x = 0; x < cells.width && column + x < columns_; ++x) append_cell(channels, x, y, *counts_);
    }
    if (counts_->size() > kMostSampleCounts)
      throw Error(ExitCode::input, "the samples of --known have too many cells",
                  "use smaller pictures, or larger --cells");
  }

 private:
  int cell_;
  std::int64_t columns_ = 0, rows_ = 0;
  std::vector<std::uint32_t>* counts_ = nullptr;
};

// Classifies the whole cells of a picture, a tile's at a time.
class CellMapper : public texture::CellSink {
 public:
  CellMapper(const CellClassifier& classifier, ClassMap& map) : classifier_(classifier), map_(map) {}

  void begin(std::int64_t width, std::int64_t height) override {
    map_.columns = width / map_.cell;
    map_.rows = height / map_.cell;
    if (map_.columns == 0 || map_.rows == 0)
      throw Error(
          ExitCode::input,
          fmt::format("'{}' is smaller than a cell of {}x{} pixels", map_.picture, map_.cell, map_.cell),
          "use smaller --cells");
    if (map_.columns > kMostMapCells / map_.rows)
      throw Error(ExitCode::usage,
                  fmt::format("'{}' has {}x{} cells, more than {}", map_.picture, map_.columns, map_.rows,
                              kMostMapCells),
                  "use larger --cells");
    map_.cells.resize(static_cast<std::size_t>(map_.columns * map_.rows));
    map_.labels.assign(map_.cells.size(), ClassMap::kUnknown);
  }

  void write(std::int64_t column, std::int64_t row, std::span<const TextureOutput* const> channels) override {
    const std::int64_t width = std::min<std::int64_t>(channels.front()->cells.width, map_.columns - column);
    const std::int64_t height = std::min<std::int64_t>(channels.front()->cells.height, map_.rows - row);
    if (width <= 0 || height <= 0) return;
    parallel_for_isolated(height, [&](std::int64_t y) {
      std::vector<std::uint32_t> counts;
      for (std::int64_t x = 0; x < width; ++x) {
        counts.clear();
        append_cell(channels, static_cast<int>(x), static_cast<int>(y), counts);
        put(static_cast<std::size_t>((row + y) * map_.columns + column + x), classifier_.classify(counts));
      }
    });
    cells_ += width * height;
  }

  bool is_complete() const { return cells_ == map_.columns * map_.rows; }

 private:
  void put(std::size_t index, const texture::CellClass& found) {
    map_.cells[index] = found;
    if (found.distance <= map_.classes[static_cast<std::size_t>(found.nearest)].limit)
      map_.labels[index] = static_cast<std::int8_t>(found.nearest);
  }

  const CellClassifier& classifier_;
  ClassMap& map_;
  std::int64_t cells_ = 0;
};

bool ends_with(const std::string& file, const char* extension) {
  return strcasecmp(std::filesystem::path(file).extension().c_str(), extension) == 0;
}

void check_classify(const ClassifyArguments& a, bool overwrite) {
  for (const std::string& file : a.outputs) {
    if (file == "-" || ends_with(file, ".png") || ends_with(file, ".csv") || ends_with(file, ".json"))
      continue;
    throw Error(ExitCode::usage, "'" + file + "' has no known extension",
                "use .png, .csv or .json, or - for JSON on standard output");
  }
  require_present(a.picture);
  std::vector<std::string> inputs{a.picture};
  for (const std::string& known : a.known) {
    if (ends_with(known, ".json"))
      throw Error(ExitCode::usage, "'" + known + "' has histograms of whole pictures, not of cells",
                  "name the pictures or their folder with --known");
    inputs.push_back(known);
  }
  require_usable_outputs(a.outputs, inputs, overwrite);
}

TextureChoice choice_of(const ClassifyArguments& a) {
  TextureChoice choice = a.options.choice();
  choice.settings.cell = a.cell;
  const int least = 2 * choice.settings.reach() + 1;
  if (a.cell < least)
    throw Error(
        ExitCode::usage,
        fmt::format("cells of {0}x{0} pixels are smaller than the neighbourhood of an operator, {1}x{1}",
                    a.cell, least),
        fmt::format("use --cells {} or more, or an --operator with a smaller radius", least));
  return choice;
}

// The known cells of each class, in the order in which the classes are first named.
std::vector<Sample> load_samples(const ClassifyArguments& a, const TextureChoice& choice, int verbosity) {
  std::vector<KnownPicture> pictures;
  for (const std::string& known : a.known) {
    for (KnownPicture& one : list_known_pictures(known)) pictures.push_back(std::move(one));
  }
  std::vector<Sample> samples;
  TextureRunner runner(a.options, choice, verbosity - 1);
  SampleCells cells(a.cell);
  for (const KnownPicture& picture : pictures) {
    auto sample = std::ranges::find(samples, picture.name, &Sample::name);
    if (sample == samples.end()) sample = samples.insert(samples.end(), {picture.name, {}});
    cells.take_into(sample->counts);
    if (report_damage(runner.run(picture.file, {"", "", &cells})))
      throw Error(ExitCode::input, "the sample '" + picture.file + "' is damaged", "replace or remove it");
  }
  return samples;
}

void check_samples(const std::vector<Sample>& samples, std::size_t features, int cell) {
  if (samples.size() < 2)
    throw Error(ExitCode::input, "--known has only one class, '" + samples.front().name + "'",
                "name a folder with a sub-folder or a picture for each of at least two classes");
  if (samples.size() > CellClassifier::kMostClasses)
    throw Error(
        ExitCode::input,
        fmt::format("--known has {} classes, more than {}", samples.size(), CellClassifier::kMostClasses),
        "name a folder with a sub-folder for each class");
  for (const Sample& one : samples) {
    if (one.name == "unknown")
      throw Error(ExitCode::input, "a class of --known is named 'unknown', as cells that are like no class",
                  "rename it");
    if (one.counts.size() < 2 * features)
      throw Error(ExitCode::input,
                  fmt::format("the samples of class '{0}' have fewer than two cells of {1}x{1} pixels",
                              one.name, cell),
                  "use larger samples or smaller --cells");
  }
}

std::vector<int> bins_of_cells(const TextureChoice& choice) {
  std::vector<int> bins;
  for (std::size_t channel = 0; channel < choice.channels.size(); ++channel) {
    for (const LbpOperator& op : choice.settings.operators)
      bins.push_back(texture::bins_of(op, choice.settings.mapping));
  }
  return bins;
}

CellClassifier make_classifier(const std::vector<Sample>& samples, const TextureChoice& choice,
                               texture::DistanceKind kind) {
  std::vector<std::vector<std::uint32_t>> classes;
  for (const Sample& one : samples) classes.push_back(one.counts);
  return {bins_of_cells(choice), classes, kind};
}

// Cells with pixels that could not be read, which count as black, are like no class.
void forget_damaged(ClassMap& map, const std::vector<tiles::Damage>& damage) {
  const auto cells = [&](std::int64_t from, std::int64_t length, std::int64_t most) {
    const std::int64_t begin = (from - map.left_out) / map.cell;
    const std::int64_t end = (from + length - map.left_out + map.cell - 1) / map.cell;
    return std::pair{std::clamp<std::int64_t>(begin, 0, most), std::clamp<std::int64_t>(end, 0, most)};
  };
  for (const tiles::Damage& one : damage) {
    const auto [left, right] = cells(one.where.x, one.where.width, map.columns);
    const auto [top, bottom] = cells(one.where.y, one.where.height, map.rows);
    for (std::int64_t row = top; row < bottom; ++row)
      std::fill(map.labels.begin() + row * map.columns + left, map.labels.begin() + row * map.columns + right,
                std::int8_t{ClassMap::kUnknown});
  }
}

void write_map(const std::string& output, const ClassMap& map) {
  if (ends_with(output, ".png")) {
    write_whole(output, draw_class_map(map), "map");
  } else if (ends_with(output, ".csv")) {
    write_class_csv(output, map);
  } else {
    write_class_json(output, map);
  }
  if (output != "-") spdlog::info("wrote {}", output);
}

int run_classify(const ClassifyArguments& a, const Common& common) {
  check_classify(a, common.overwrite);
  const TextureChoice choice = choice_of(a);
  const std::vector<Sample> samples = load_samples(a, choice, common.verbosity);
  const std::vector<int> bins = bins_of_cells(choice);
  check_samples(samples, static_cast<std::size_t>(std::accumulate(bins.begin(), bins.end(), 0)), a.cell);
  const CellClassifier classifier =
      make_classifier(samples, choice, texture::parse_distance_kind(a.distance).value());

  ClassMap map;
  map.picture = a.picture;
  map.distance = a.distance;
  map.cell = a.cell;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float limit = a.limit ? static_cast<float>(*a.limit) : classifier.limit(i);
    map.classes.push_back({samples[i].name, classifier.known_cells(i), limit});
  }
  CellMapper mapper(classifier, map);
  TextureRunner runner(a.options, choice, common.verbosity);
  const texture::TextureRecord record = runner.run(a.picture, {"", "", &mapper});
  map.histograms = record.kind();
  map.width = record.width;
  map.height = record.height;
  map.left_out = record.left_out;
  const bool damaged = report_damage(record);
  if (!mapper.is_complete())
    throw Error(ExitCode::failed, "some tiles of '" + a.picture + "' could not be computed",
                "the messages above give the reasons");
  forget_damaged(map, record.damage);
  const bool to_stdout = std::ranges::find(a.outputs, "-") != a.outputs.end();
  if (!to_stdout && (common.verbosity >= 0 || a.outputs.empty())) std::fputs(to_text(map).c_str(), stdout);
  for (const std::string& output : a.outputs) write_map(output, map);
  return static_cast<int>(damaged ? ExitCode::failed : ExitCode::done);
}

}  // namespace

void add_texture_classify(CLI::App& texture, Common& common) {
  auto a = std::make_shared<ClassifyArguments>();
  OptionSet options;
  options.add("picture", &a->picture, "Picture of any size, as for `sightline texture`").require();
  options
      .add("--known FOLDER", &a->known,
           "Pictures of known textures; sub-folders give their names to their pictures, else each picture "
           "is a class")
      .require();
  options.add("--cells PX", &a->cell, "Side of the square cells that are classified, in pixels")
      .between(3, 4096)
      .show_default();
  options
      .add("--limit DISTANCE", &a->limit,
           "Distance above which a cell is unknown (default: for each class, the distance to the "
           "nearest other cell of the class that 99% of its known cells do not exceed)")
      .between(0, 1000);
  options.add("--distance MEASURE", &a->distance, "Distance between histograms, as shares of the pixels")
      .one_of({"chi-square", "intersection", "hellinger"})
      .show_default();
  options.group("Output");
  options
      .add("-o,--output FILE", &a->outputs,
           "Map of the classes: .png (a picture with a legend), .csv or .json (a table of the cells), or "
           "- for JSON on standard output; may be given several times")
      .checked_by(OutputFile())
      .one_at_a_time();
  options.group("Texture");
  a->options.add_to(options);
  add_command(texture, common, "classify", "Map the classes of a picture's cells", options,
              [a, &common] { return run_classify(*a, common); });
}

}  // namespace sightline::apps
