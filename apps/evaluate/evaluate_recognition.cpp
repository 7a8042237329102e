// `sightline evaluate verify` and `evaluate identify`: how well a model of recognition tells faces apart.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/evaluate/report_options.hpp"
#include "apps/faces/face_finder.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "faces/recognition/evaluation.hpp"
#include "faces/recognition/photos.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/section.hpp"
#include "training/file_image_set.hpp"

namespace sightline::apps {
namespace {

using recognition::FaceModel;

constexpr std::size_t kRanks = 20;
constexpr double kRates[] = {0.001, 0.01, 0.1};

struct RecognitionArguments {
  std::string photos;
  std::string list;
  std::string landmarks;
  std::string config = "recognise";
  std::vector<std::string> models;
  std::string json;
  ReportArguments report;
};

// Photos with the points of their faces, each once.
struct AlignedPhotos {
  AlignedPhotos(const std::vector<std::string>& photos, const RecognitionArguments& a)
      : AlignedPhotos(a, different_of(photos)) {}

  std::map<std::string, std::size_t> indices;
  training::FileImageSet pictures;
  std::vector<recognition::FacePoints> points;

 private:
  AlignedPhotos(const RecognitionArguments& a, const std::vector<std::string>& different)
      : pictures(training::pictures_named(different, a.photos)) {
    for (const std::string& photo : different) indices.emplace(photo, indices.size());
    if (!a.landmarks.empty()) {
      points = recognition::points_of(different, recognition::load_face_points(a.landmarks), a.landmarks);
      return;
    }
    const Config config = recognition_config(a.config);
    const NamedFaces faces = make_face_detector(config);
    const recognition::Settings settings = recognition::read_section(config);
    recognition::FoundPoints found = recognition::find_face_points(
        *faces.detector, faces.label,
        landmarks::load_model(settings.points, std::uint64_t{landmarks::kMaxModelSize} << 20), pictures,
        throw_if_stopped);
    if (found.without_face > 0)
      spdlog::warn("no face found in {} of {} photos; using the centre of these photos instead",
                   found.without_face, different.size());
    points = std::move(found.points);
  }

  static std::vector<std::string> different_of(const std::vector<std::string>& photos) {
    std::vector<std::string> different;
    std::set<std::string> seen;
    for (const std::string& photo : photos) {
      if (seen.insert(photo).second) different.push_back(photo);
    }
    return different;
  }
};

// Templates of photos, found by their names.
class PhotoTemplates {
 public:
  PhotoTemplates(const FaceModel& model, const AlignedPhotos& photos)
      : format_(template_format(model)),
        indices_(photos.indices),
        templates_(templates_of(model, photos.pictures, photos.points, throw_if_stopped)) {}
  std::uint32_t distance(const std::string& first, const std::string& second) const {
    return recognition::reference::distance(format_, templates_[indices_.at(first)],
                                            templates_[indices_.at(second)]);
  }

 private:
  recognition::TemplateFormat format_;
  std::map<std::string, std::size_t> indices_;
  std::vector<std::vector<std::uint8_t>> templates_;
};

// With the distances that people see as thresholds.
std::vector<DetPoint> for_people(std::vector<DetPoint> curve, const FaceModel& model) {
  for (DetPoint& point : curve) point.threshold /= distance_unit(model);
  return curve;
}

std::vector<FaceModel> load_models(const RecognitionArguments& a) {
  std::vector<FaceModel> models;
  std::vector<std::string> files = a.models;
  if (files.empty()) files = {recognition::read_section(recognition_config(a.config)).model};
  for (const std::string& model : files)
    models.push_back(
        recognition::load_face_model(model, std::uint64_t{recognition::kMaxFaceModelSize} << 20));
  return models;
}

std::string model_name(const RecognitionArguments& a, const FaceModel& model, std::size_t index) {
  return a.report.names.empty() ? model.name : a.report.names[index];
}

// The share that is found at these false positives, by rate.
nlohmann::json found_at_rates(const std::vector<DetPoint>& curve) {
  nlohmann::json found = nlohmann::json::array();
  for (const double rate : kRates) {
    const DetPoint* const point = point_at(curve, rate);
    nlohmann::json one{{"rate", rate}, {"share", point ? 1 - point->miss_rate : 0}};
    if (point) one["distance"] = -point->threshold;
    found.push_back(one);
  }
  return found;
}

void print_found(const char* what, const nlohmann::json& found) {
  std::printf("%-52s %-10s %s\n", what, "share", "distance");
  for (const nlohmann::json& one : found) {
    std::printf(
        "  %-50s %-10s %s\n", (percent(one["rate"]) + " false accepts").c_str(),
        percent(one["share"]).c_str(),
        one.contains("distance") ? fmt::format("{:.4f}", one["distance"].get<double>()).c_str() : "-");
  }
}

void write_results(const RecognitionArguments& a, const nlohmann::json& results,
                   const std::vector<NamedCurve>& curves) {
  if (!a.json.empty()) write_report(a.json, json_text(results, 2) + '\n');
  write_reports(a.report, curves, FalsePositiveUnit::per_stranger);
}

void check_recognition_outputs(const RecognitionArguments& a) {
  check_report(a.report, std::max<std::size_t>(a.models.size(), 1));
  require_writable(a.json);
}

int run_verify(const RecognitionArguments& a) {
  check_recognition_outputs(a);
  const auto pairs = recognition::load_named_pairs(a.list);
  std::vector<std::string> photos;
  for (const recognition::NamedPair& pair : pairs) photos.insert(photos.end(), {pair.first, pair.second});
  const auto same =
      static_cast<std::size_t>(std::ranges::count(pairs, true, &recognition::NamedPair::is_same));
  std::printf("%zu pairs of one person, %zu of two\n", same, pairs.size() - same);
  nlohmann::json results = nlohmann::json::array();
  std::vector<NamedCurve> curves;
  const std::vector<FaceModel> models = load_models(a);
  const AlignedPhotos aligned(photos, a);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const PhotoTemplates templates(models[i], aligned);
    std::vector<std::uint32_t> distances;
    for (const recognition::NamedPair& pair : pairs)
      distances.push_back(templates.distance(pair.first, pair.second));
    recognition::VerificationResult found = recognition::verify(pairs, distances);
    found.curve = for_people(std::move(found.curve), models[i]);
    const std::string name = model_name(a, models[i], i);
    std::printf("\n%s: accuracy %.4f +- %.4f over %zu folds (%.4f to %.4f), equal error rate %s\n",
                name.c_str(), found.accuracy, found.error, found.folds.size(),
                *std::ranges::min_element(found.folds), *std::ranges::max_element(found.folds),
                percent(found.equal_error_rate).c_str());
    const nlohmann::json at_rates = found_at_rates(found.curve);
    print_found("pairs of one person that are accepted at", at_rates);
    results.push_back({{"model", name},
                       {"accuracy", found.accuracy},
                       {"standard_error", found.error},
                       {"folds", found.folds},
                       {"equal_error_rate", found.equal_error_rate},
                       {"accepted", at_rates}});
    curves.push_back({name, summary_of(found.curve, FalsePositiveUnit::per_stranger), found.curve, same,
                      pairs.size() - same});
  }
  write_results(a, results, curves);
  return 0;
}

int run_identify(const RecognitionArguments& a) {
  check_recognition_outputs(a);
  const auto list = recognition::load_named_photos(a.list);
  std::vector<std::string> photos;
  for (const recognition::NamedPhoto& photo : list) photos.push_back(photo.photo);
  nlohmann::json results = nlohmann::json::array();
  std::vector<NamedCurve> curves;
  const std::vector<FaceModel> models = load_models(a);
  const AlignedPhotos aligned(photos, a);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const PhotoTemplates templates(models[i], aligned);
    recognition::IdentificationResult found = recognition::identify(
        list,
        [&](std::size_t one, std::size_t other) { return templates.distance(photos[one], photos[other]); },
        kRanks);
    found.curve = for_people(std::move(found.curve), models[i]);
    const std::string name = model_name(a, models[i], i);
    if (i == 0)
      std::printf("%zu photos of %zu people are known; %zu other photos of them, %zu of people unknown\n",
                  found.gallery, found.people, found.probes, found.unknown);
    std::printf("\n%s: the right one is nearest for %s", name.c_str(), percent(found.cumulative[0]).c_str());
    for (const std::size_t rank : {5, 10, 20}) {
      if (rank <= found.cumulative.size())
        std::printf(", among the first %zu for %s", rank, percent(found.cumulative[rank - 1]).c_str());
    }
    std::printf("\n");
    const nlohmann::json at_rates = found_at_rates(found.curve);
    if (found.unknown > 0) print_found("photos that get the right name at", at_rates);
    results.push_back({{"model", name},
                       {"people", found.people},
                       {"gallery", found.gallery},
                       {"probes", found.probes},
                       {"unknown", found.unknown},
                       {"cumulative_match", found.cumulative},
                       {"identified", at_rates}});
    if (found.unknown > 0)
      curves.push_back({name, summary_of(found.curve, FalsePositiveUnit::per_stranger), found.curve,
                        found.probes, found.unknown});
  }
  write_results(a, results, curves);
  return 0;
}

void add_recognition_command(CLI::App& evaluate, Common& common, const std::string& name,
                             const std::string& description, const std::string& list_option,
                             const std::string& list_help, int (*run)(const RecognitionArguments&)) {
  auto a = std::make_shared<RecognitionArguments>();
  OptionSet options;
  options.add("photos", &a->photos, "Folder of the photos").require();
  options.add(list_option, &a->list, list_help).require();
  options.add("--landmarks FILE", &a->landmarks,
              "Points of the faces, as lines `photo` and five points `x y`: left eye in the picture, right "
              "eye, nose, corners of the mouth (default: found as in recognition)");
  options
      .add("-c,--config CONFIG", &a->config,
           "Configuration that finds faces and points without --landmarks, and whose model is judged without "
           "--model")
      .suggest(config_choices)
      .show_default();
  options.add("-m,--model MODEL", &a->models, "Model of `train recognition`; may be given several times")
      .one_at_a_time();
  options.add("--json FILE", &a->json, "Write the figures as JSON").checked_by(OutputFile{{".json"}});
  add_report_options(options, a->report);
  add_command(evaluate, common, name, description, options, [a, run] { return run(*a); });
}

}  // namespace

void add_evaluate_recognition(CLI::App& evaluate, Common& common) {
  add_recognition_command(
      evaluate, common, "verify", "Measure how well pairs of photos are told apart: same person or not",
      "--pairs FILE", "Pairs, as lines `fold photo photo same`: 1 for one person, 0 for two", run_verify);
  add_recognition_command(
      evaluate, common, "identify", "Measure how often faces of known and unknown people get the right name",
      "--list FILE", "Photos, as lines `gallery|probe|unknown person photo`", run_identify);
}

}  // namespace sightline::apps
