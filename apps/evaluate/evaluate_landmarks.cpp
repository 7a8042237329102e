// `sightline evaluate landmarks`: how far the points of faces are from marked ones.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "detection/detector.hpp"
#include "detectors/families.hpp"
#include "faces/landmarks/evaluation.hpp"
#include "faces/landmarks/marks.hpp"
#include "faces/landmarks/model.hpp"
#include "faces/recognition/section.hpp"
#include "params/config.hpp"

namespace sightline::apps {
namespace {

using landmarks::ErrorSummary;
using landmarks::MarkedFace;
using landmarks::Points;

constexpr char kEyeLabel[] = "eye";

struct LandmarkArguments {
  std::string pictures;
  std::string faces;
  std::string part = "test";
  std::string model;
  std::vector<std::string> configs;
  std::string json;
};

// What one detector's boxes lead to.
struct Outcome {
  std::size_t found = 0;  // faces
  ErrorSummary points, mean_shape;
  ErrorSummary eyes;  // of faces in which a detector inside found two; only the first two points count
};

// A face's box, and the middles of the two surest eyes in it, from left to right.
struct FoundFace {
  std::optional<Box> box;
  std::vector<Point> eyes;
};

Point middle(const Box& box) {
  return {box.x + box.width / 2, box.y + box.height / 2};
}

bool lies_in(const Point& point, const Box& box) {
  return point.x >= box.x && point.y >= box.y && point.x <= box.x + box.width &&
         point.y <= box.y + box.height;
}

// Of the boxes around the middle of the marked points, the surest.
FoundFace find_face(const std::vector<Detection>& objects, const std::vector<std::string>& labels,
                    const MarkedFace& face) {
  Point centre;
  for (const Point& point : face.points) {
    centre.x += point.x / landmarks::kPoints;
    centre.y += point.y / landmarks::kPoints;
  }
  FoundFace found;
  for (const Detection& one : objects) {
    const bool is_eye = labels[static_cast<std::size_t>(one.label)] == kEyeLabel;
    if (!is_eye && !found.box && lies_in(centre, one.box)) found.box = one.box;
    if (is_eye && found.box && found.eyes.size() < 2 && lies_in(middle(one.box), *found.box))
      found.eyes.push_back(middle(one.box));
  }
  if (found.eyes.size() == 2 && found.eyes[0].x > found.eyes[1].x) std::swap(found.eyes[0], found.eyes[1]);
  return found;
}

void add_errors(Outcome& outcome, const FoundFace& found, const MarkedFace& face, GrayView picture,
                const landmarks::Finder& finder, landmarks::PatchSampler& sampler) {
  if (!found.box) return;
  ++outcome.found;
  const landmarks::Square square = landmarks::square_of(*found.box);
  const auto errors = [&](const landmarks::Shape& shape) {
    return landmarks::errors_of(landmarks::frame_points(shape, square), face.points);
  };
  outcome.points.add(errors(finder.find(picture, square, sampler)));
  outcome.mean_shape.add(errors(finder.mean()));
  if (found.eyes.size() != 2) return;
  Points eyes = face.points;
  std::copy(found.eyes.begin(), found.eyes.end(), eyes.begin());
  outcome.eyes.add(landmarks::errors_of(eyes, face.points));
}

void print_row(const std::string& name, const ErrorSummary& errors) {
  const auto percent = [](double share) { return 100 * share; };
  std::printf("  %-26s %6.2f%% %6.2f%% %6.2f%% %6.2f%%  %6.2f%%\n", name.c_str(),
              percent((errors.mean_of(0) + errors.mean_of(1)) / 2), percent(errors.mean_of(2)),
              percent((errors.mean_of(3) + errors.mean_of(4)) / 2), percent(errors.mean()),
              percent(errors.share_above(landmarks::kFailure)));
}

void print_outcome(const std::string& name, const Outcome& outcome, std::size_t faces) {
  std::printf("%s: %zu faces found, %.2f%%\n", name.c_str(), outcome.found,
              100.0 * static_cast<double>(outcome.found) / static_cast<double>(faces));
  print_row("points", outcome.points);
  print_row("the mean of all faces", outcome.mean_shape);
  if (outcome.eyes.faces() > 0) {
    std::printf("  %-26s %6.2f%%    of %zu faces in which both were found, %.2f%%\n",
                "eyes of the detector inside", 100 * (outcome.eyes.mean_of(0) + outcome.eyes.mean_of(1)) / 2,
                outcome.eyes.faces(),
                100.0 * static_cast<double>(outcome.eyes.faces()) / static_cast<double>(faces));
  }
}

// Means in parts of the distance between the marked eyes, and the share of faces whose mean is above a tenth.
nlohmann::json json_of(const ErrorSummary& errors) {
  return {{"faces", errors.faces()},   {"eyes", (errors.mean_of(0) + errors.mean_of(1)) / 2},
          {"nose", errors.mean_of(2)}, {"mouth", (errors.mean_of(3) + errors.mean_of(4)) / 2},
          {"all", errors.mean()},      {"above_a_tenth", errors.share_above(landmarks::kFailure)}};
}

nlohmann::json json_of(const std::string& name, const Outcome& outcome) {
  nlohmann::json json{{"boxes", name},
                      {"found", outcome.found},
                      {"points", json_of(outcome.points)},
                      {"mean_shape", json_of(outcome.mean_shape)}};
  if (outcome.eyes.faces() > 0) {
    json["detected_eyes"] = {{"faces", outcome.eyes.faces()},
                             {"eyes", (outcome.eyes.mean_of(0) + outcome.eyes.mean_of(1)) / 2}};
  }
  return json;
}

// @param detector  null: the boxes are those of the marks
Outcome evaluate(const Detector* detector, const std::vector<MarkedFace>& faces,
                 const training::ImageSet& pictures, const landmarks::Finder& finder) {
  Outcome outcome;
  landmarks::PatchSampler sampler;
  const auto workspace = detector ? detector->make_workspace() : nullptr;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    throw_if_stopped();
    const Image<std::uint8_t> picture = pictures.load(i);
    const GrayView view = picture.view();
    FoundFace found{faces[i].box, {}};
    if (detector)
      found = find_face(detect(*detector, *workspace, PictureView(view)), detector->info().labels, faces[i]);
    add_errors(outcome, found, faces[i], view, finder, sampler);
  }
  return outcome;
}

int run_evaluate_landmarks(const LandmarkArguments& a) {
  require_writable(a.json);
  const std::vector<MarkedFace> faces =
      landmarks::faces_of_part(landmarks::load_marked_faces(a.faces), a.part, a.faces);
  const training::FileImageSet pictures = landmarks::pictures_of(faces, a.pictures);
  const landmarks::Finder finder(
      landmarks::load_model(a.model, std::uint64_t{landmarks::kMaxModelSize} << 20));
  std::printf("%zu faces of part %s; errors as shares of the distance between the marked eyes\n",
              faces.size(), a.part.c_str());
  std::printf("  %-26s %7s %7s %7s %7s  %s\n", "", "eyes", "nose", "mouth", "all", "faces above 10%");
  nlohmann::json results = nlohmann::json::array();
  const auto report = [&](const std::string& name, const Detector* detector) {
    const Outcome outcome = evaluate(detector, faces, pictures, finder);
    print_outcome(name, outcome, faces.size());
    results.push_back(json_of(name, outcome));
  };
  if (a.configs.empty()) report("marked boxes", nullptr);
  for (const std::string& config : a.configs)
    report(config,
           make_detector(Config::load(find_config(config)), recognition::detector_extensions()).get());
  write_if_named(a.json, [&] {
    const nlohmann::json all{
        {"part", a.part}, {"faces", faces.size()}, {"model", a.model}, {"results", results}};
    return json_text(all, 2) + '\n';
  });
  return 0;
}

}  // namespace

void add_evaluate_landmarks(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<LandmarkArguments>();
  OptionSet options;
  options.add("pictures", &a->pictures, "Folder of the pictures").require();
  options
      .add("--faces FILE", &a->faces,
           "Marked faces, as lines `picture part left top right bottom` and five points `x y`")
      .require();
  options.add("--part PART", &a->part, "Part of the list to evaluate").free_text().show_default();
  options.add("-m,--model MODEL", &a->model, "Model of `train landmarks`").require();
  options
      .add("-c,--config CONFIG", &a->configs,
           "Configuration of a face detector whose boxes replace the marked ones; may be given several "
           "times. Also judges the eyes of a detector inside")
      .suggest(config_choices)
      .one_at_a_time();
  options.add("--json FILE", &a->json, "Write the figures as JSON").checked_by(OutputFile{{".json"}});
  add_command(evaluate, common, "landmarks", "Measure the distance between found and marked points of faces",
              options, [a] { return run_evaluate_landmarks(*a); });
}

}  // namespace sightline::apps
