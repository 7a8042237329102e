// `sightline texture compare` and `texture nearest`: how far textures are from each other.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/texture/texture_known.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "texture/distance.hpp"

namespace sightline::apps {
namespace {

using Json = nlohmann::ordered_json;
using texture::DistanceKind;
using texture::Neighbour;
using texture::TextureRecord;

struct DistanceArguments {
  std::vector<std::string> textures;
  std::vector<std::string> known;
  std::string distance = "chi-square";
  int count = 3;
  std::string json;
  TextureOptions options{comparing_defaults()};

  DistanceKind kind() const { return texture::parse_distance_kind(distance).value(); }
};

void write_distances(const std::string& file, const Json& json) {
  if (file.empty()) return;
  const std::string text = json_text(json, 1) + "\n";
  if (file == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  write_whole(file, text, "distances");
  spdlog::info("wrote {}", file);
}

// Every texture against every other: rows and columns in the order in which they were named.
void print_distances(const std::vector<NamedTexture>& all,
                     const std::vector<std::vector<double>>& distances) {
  std::size_t width = 9;
  for (const NamedTexture& one : all) width = std::max(width, one.name.size() + 1);
  std::string text(width, ' ');
  for (const NamedTexture& one : all) text += fmt::format("{:>{}}", one.name, width);
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("\n{:<{}}", all[i].name, width);
    for (const double distance : distances[i]) text += fmt::format("{:>{}.5f}", distance, width);
  }
  std::printf("%s\n", text.c_str());
}

// Distances of what could not be read to its end are not to be taken for those of the whole.
int exit_code(const std::vector<std::vector<NamedTexture>>& lists) {
  for (const auto& list : lists) {
    for (const NamedTexture& one : list) {
      if (!one.record.damage.empty()) return static_cast<int>(ExitCode::failed);
    }
  }
  return 0;
}

int run_compare(const DistanceArguments& a, int verbosity) {
  require_writable(a.json);
  const auto lists = load_textures({a.textures}, a.options, verbosity);
  const std::vector<NamedTexture>& all = lists.front();
  if (all.size() < 2)
    throw Error(ExitCode::usage, "there is only one texture",
                "name at least two pictures, or a folder of them");
  std::vector<std::vector<double>> distances(all.size(), std::vector<double>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      distances[i][j] = distances[j][i] = texture::distance(all[i].record, all[j].record, a.kind());
  }
  if (a.json != "-") {
    std::printf("%s, %s\n", a.distance.c_str(), all.front().record.kind().c_str());
    print_distances(all, distances);
  }
  Json names = Json::array();
  Json pictures = Json::array();
  for (const NamedTexture& one : all) {
    names.push_back(one.name);
    pictures.push_back(one.record.picture);
  }
  write_distances(a.json, {{"distance", a.distance},
                           {"histograms", all.front().record.kind()},
                           {"names", std::move(names)},
                           {"pictures", std::move(pictures)},
                           {"distances", distances}});
  return exit_code(lists);
}

int run_nearest(const DistanceArguments& a, int verbosity) {
  require_writable(a.json);
  const auto lists = load_textures({a.textures, a.known}, a.options, verbosity);
  const std::vector<NamedTexture>& known = lists[1];
  if (known.empty())
    throw Error(ExitCode::input, "--known has no texture", "name pictures or a folder with --known");
  std::vector<TextureRecord> records;
  for (const NamedTexture& one : known) records.push_back(one.record);
  Json results = Json::array();
  for (const NamedTexture& query : lists[0]) {
    std::string text = query.record.picture + ":";
    Json list = Json::array();
    for (const Neighbour& one :
         texture::nearest(query.record, records, a.kind(), static_cast<std::size_t>(a.count))) {
      text += fmt::format("  {} {:.5f}", known[one.index].name, one.distance);
      list.push_back({{"name", known[one.index].name},
                      {"picture", records[one.index].picture},
                      {"distance", one.distance}});
    }
    if (a.json != "-") std::printf("%s\n", text.c_str());
    results.push_back({{"picture", query.record.picture}, {"nearest", std::move(list)}});
  }
  write_distances(
      a.json,
      {{"distance", a.distance}, {"histograms", records.front().kind()}, {"queries", std::move(results)}});
  return exit_code(lists);
}

void add_distance(OptionSet& options, DistanceArguments& a) {
  options.add("--distance MEASURE", &a.distance, "Distance between histograms, as shares of the pixels")
      .one_of({"chi-square", "intersection", "hellinger"})
      .show_default();
  options.add("--json FILE", &a.json, "Write the distances as JSON; - is standard output")
      .checked_by(OutputFile{{".json"}});
}

constexpr char kTextureHelp[] = "Pictures, folders of pictures, or .json files of `sightline texture`";

}  // namespace

void add_texture_compare(CLI::App& texture, Common& common) {
  auto compare = std::make_shared<DistanceArguments>();
  OptionSet options;
  options.add("texture", &compare->textures, kTextureHelp).require();
  add_distance(options, *compare);
  options.group("Texture");
  compare->options.add_to(options);
  add_command(texture, common, "compare", "Print the distances between textures", options,
              [compare, &common] { return run_compare(*compare, common.verbosity); });

  auto nearest = std::make_shared<DistanceArguments>();
  OptionSet more;
  more.add("query", &nearest->textures, kTextureHelp).require();
  more.add("--known PICTURE|FOLDER", &nearest->known,
           "Pictures of known textures; sub-folders give their names to their pictures")
      .require();
  more.add("--count N", &nearest->count, "Number of nearest textures to print")
      .between(1, 1000)
      .show_default();
  add_distance(more, *nearest);
  more.group("Texture");
  nearest->options.add_to(more);
  add_command(texture, common, "nearest", "Find the nearest known texture", more,
              [nearest, &common] { return run_nearest(*nearest, common.verbosity); });
}

}  // namespace sightline::apps
