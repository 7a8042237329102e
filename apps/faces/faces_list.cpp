// `sightline faces list` and `show`: who is known, and by which pictures.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/choices.hpp"
#include "apps/cli/writable.hpp"
#include "apps/faces/face_finder.hpp"
#include "apps/faces/faces.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "faces/recognition/section.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using gallery::Gallery;
using gallery::Person;
using gallery::StoredTemplate;
using gallery::Threshold;
using Json = nlohmann::ordered_json;

struct ListArguments {
  GalleryOption gallery;
  std::string config;  // empty: kFacesConfig, if the gallery is of its model
  bool json = false;
  std::string name;
  std::string pictures;
};

void print_json(const Json& json) {
  std::printf("%s\n", json_text(json, 2).c_str());
}

// The gallery's threshold as people see distances, which its model knows alone. Throws Error where the
// configuration was asked for and does not fit; where it was not, none is told.
std::optional<double> threshold_distance(const Gallery& gallery, const std::string& config) {
  const std::optional<Threshold> threshold = gallery.threshold();
  if (!threshold && config.empty()) return std::nullopt;
  try {
    const auto recogniser = recognition::load_recogniser(
        recognition::read_section(recognition_config(config.empty() ? kFacesConfig : config)));
    gallery.require(recognition::template_kind(*recogniser));
    if (!threshold) return std::nullopt;
    return recogniser->real_distance(
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(threshold->distance, 0, UINT32_MAX)));
  } catch (const Error&) {
    if (!config.empty()) throw;
    spdlog::info(
        "use --config with a configuration of the gallery's model, '{}', to see the distance of its "
        "threshold",
        printable(gallery.kind().model));
    return std::nullopt;
  }
}

Json threshold_json(const std::optional<Threshold>& threshold, std::optional<double> distance) {
  if (!threshold) return nullptr;
  return {{"distance", distance ? Json(*distance) : Json(nullptr)},
          {"false_accepts", threshold->rate},
          {"people", threshold->people},
          {"mistaken", threshold->mistaken},
          {"templates", threshold->templates},
          {"from_model", threshold->from_model},
          {"made", threshold->made}};
}

int list_json(const Gallery& gallery, const std::vector<Person>& people, std::optional<double> distance) {
  Json all = Json::array();
  for (const Person& one : people) {
    all.push_back(
        {{"name", one.name}, {"pictures", one.templates}, {"added", one.added}, {"changed", one.changed}});
  }
  print_json({{"gallery", gallery.file().string()},
              {"model", gallery.kind().model},
              {"hash", gallery.kind().hash},
              {"settings", gallery.kind().settings},
              {"threshold", threshold_json(gallery.threshold(), distance)},
              {"people", std::move(all)}});
  return 0;
}

std::string threshold_text(const Threshold& t, std::optional<double> distance, std::int64_t people,
                           std::int64_t templates) {
  std::string text = fmt::format("threshold{}: at most {} of strangers are mistaken for somebody",
                                 distance ? fmt::format(" {:.4f}", *distance) : "", percent(t.rate));
  if (people != t.people || templates != t.templates)
    text += fmt::format("; set on {} with {} and {}: run `sightline faces calibrate` to update it",
                        time_text(t.made), counted(t.people, "person"), counted(t.templates, "picture"));
  return text;
}

int list(const ListArguments& a) {
  const Gallery gallery = a.gallery.open(Gallery::Access::read);
  const std::vector<Person> people = gallery.people();
  const std::optional<double> distance = threshold_distance(gallery, a.config);
  if (a.json) return list_json(gallery, people, distance);
  std::int64_t templates = 0;
  std::printf("%8s  %-16s  %-16s  %s\n", "pictures", "added", "changed", "name");
  for (const Person& one : people) {
    // Names come last: how wide they are is the terminal's business.
    std::printf("%8lld  %-16s  %-16s  %s\n", static_cast<long long>(one.templates),
                time_text(one.added).c_str(), time_text(one.changed).c_str(), one.name.c_str());
    templates += one.templates;
  }
  const auto threshold = gallery.threshold();
  std::printf(
      "\n%s, %s, in %s, of model %s\n%s\n",
      counted(static_cast<std::int64_t>(people.size()), "person").c_str(),
      counted(templates, "picture").c_str(), gallery.file().c_str(), printable(gallery.kind().model).c_str(),
      threshold
          ? threshold_text(*threshold, distance, static_cast<std::int64_t>(people.size()), templates).c_str()
          : "no threshold of its own: run `sightline faces calibrate` to set one");
  return 0;
}

// As 1.png, 2.png, ... by their numbers.
void write_pictures(const fs::path& folder, const std::vector<StoredTemplate>& templates, bool overwrite) {
  const auto file = [&](std::size_t i) { return folder / (std::to_string(i + 1) + ".png"); };
  for (std::size_t i = 0; i < templates.size() && !overwrite; ++i) refuse_existing(file(i).string());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::failed,
                "cannot make the folder '" + folder.string() + "' (" + error.message() + ")");
  for (std::size_t i = 0; i < templates.size(); ++i)
    write_whole(file(i), templates[i].picture, "picture", Readers::owner);
  spdlog::info("wrote {} to {}", counted(static_cast<std::int64_t>(templates.size()), "picture"),
               folder.string());
}

int show(const ListArguments& a, bool overwrite) {
  const Gallery gallery = a.gallery.open(Gallery::Access::read);
  const Person person = gallery.person(a.name);
  const std::vector<StoredTemplate> templates = gallery.templates(person);
  if (a.json) {
    Json all = Json::array();
    for (const StoredTemplate& one : templates)
      all.push_back({{"source", one.source}, {"added", one.added}, {"sharpness", one.sharpness}});
    print_json({{"name", person.name}, {"added", person.added}, {"pictures", std::move(all)}});
  } else {
    std::printf("%8s  %-16s  %9s  %s\n", "picture", "added", "sharpness", "source");
    for (std::size_t i = 0; i < templates.size(); ++i) {
      std::printf("%8zu  %-16s  %9.3g  %s\n", i + 1, time_text(templates[i].added).c_str(),
                  templates[i].sharpness, templates[i].source.c_str());
    }
  }
  if (!a.pictures.empty()) write_pictures(a.pictures, templates, overwrite);
  return 0;
}

}  // namespace

void add_faces_list(CLI::App& faces, Common& common) {
  auto a = std::make_shared<ListArguments>();
  OptionSet options;
  options.add("--json", &a->json, "As JSON, times in seconds since 1970");
  options
      .add("-c,--config CONFIG", &a->config,
           "Configuration with the gallery's model, for the distance of its threshold (default: " +
               std::string(kFacesConfig) + ", if it has that model)")
      .suggest(config_choices);
  a->gallery.add_to(options);
  add_command(faces, common, "list", "List the people of the gallery", options, [a] { return list(*a); });

  auto b = std::make_shared<ListArguments>();
  OptionSet shown;
  shown.add("name", &b->name, "Name of the person").free_text().require();
  shown.add("--pictures FOLDER", &b->pictures, "Folder to write the faces to, as 1.png, 2.png, ...");
  shown.add("--overwrite", &common.overwrite, "Replace existing pictures");
  shown.add("--json", &b->json, "As JSON, times in seconds since 1970");
  b->gallery.add_to(shown);
  add_command(faces, common, "show", "List the pictures of a person", shown,
              [b, &common] { return show(*b, common.overwrite); });
}

}  // namespace sightline::apps
