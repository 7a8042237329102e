// `sightline evaluate`: how good a detector is, per window and per frame.
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "commands.hpp"
#include "detector_options.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/ground_truth.hpp"
#include "evaluation/matching.hpp"
#include "evaluation/report.hpp"
#include "filterbank/centre_window.hpp"
#include "filterbank/detector.hpp"
#include "media/reader.hpp"
#include "media_options.hpp"
#include "pipeline/sources.hpp"
#include "stop.hpp"
#include "training/file_image_set.hpp"
#include "writable.hpp"

namespace sightline::apps {

using training::FileImageSet;

namespace {

struct ReportArguments {
  std::vector<std::string> names;
  std::string csv;
  std::string svg;
};

void add_report_options(CLI::App& command, ReportArguments& report) {
  command
      .add_option("--name", report.names,
                  "Of the curve, in the reports; once for each where there are several")
      ->allow_extra_args(false);
  command.add_option("--csv", report.csv, "Write the curve as a table");
  command.add_option("--svg", report.svg, "Write the curve as a picture: miss rate against false positives");
}

void write_reports(const ReportArguments& report, const std::vector<NamedCurve>& curves,
                   FalsePositiveUnit unit, const std::string& title) {
  if (!report.csv.empty()) write_report(report.csv, curves_as_csv(curves, unit));
  if (!report.svg.empty()) write_report(report.svg, curves_as_svg(curves, unit, title));
  for (const std::string* file : {&report.csv, &report.svg}) {
    if (!file->empty()) spdlog::info("wrote {}", *file);
  }
}

// Before the work, so that it is not done for nothing.
void check(const ReportArguments& report, std::size_t curves) {
  if (!report.names.empty() && report.names.size() != curves) {
    throw Error(
        ExitCode::usage,
        std::to_string(report.names.size()) + " names were given for " + std::to_string(curves) + " curve(s)",
        "give --name once for each of them, in their order, or not at all");
  }
  refuse_same_outputs({report.csv, report.svg});
  require_writable(report.csv);
  require_writable(report.svg);
}

void throw_if_stopped() {
  if (stop_requested()) throw Error(ExitCode::failed, "stopped on request before there was a result");
}

// --- windows
// ----------------------------------------------------------------------------------------------------

struct WindowArguments {
  std::vector<std::string> models;
  std::string config = "people";
  std::string positives;
  std::string folder;
  std::string negatives;
  std::vector<int> filters;
  std::string arithmetic = "exact";
  double scale_step = 1.2;
  int computed_scales = 0;
  bool no_verify = false;
  bool store = false;
  std::string data;
  std::optional<int> max_model_size;
  ReportArguments report;
};

constexpr double kAnyScore = -std::numeric_limits<double>::infinity();

// Scores all windows of a frame; with a network, those that it looks at are the workspace's candidates then.
// False where the frame is too small.
bool score_all(const filterbank::FilterbankDetector& detector, filterbank::FilterbankWorkspace& workspace,
               GrayView frame) {
  if (!detector.prepare(workspace, frame)) return false;
  detector.score_windows(workspace);
  if (detector.verifies()) detector.run_stage(filterbank::kVerify, workspace);
  return true;
}

// Of a window that the network does not look at, or where there is none.
double score_unseen(const filterbank::FilterbankDetector& detector, double score) {
  return detector.verifies() ? detector.model().network.rejected_score(score) : score;
}

double score_centre(const filterbank::FilterbankDetector& detector,
                    filterbank::FilterbankWorkspace& workspace, const Image<std::uint8_t>& image,
                    const std::string& name) {
  const auto centred = filterbank::centre_window(image.view(), detector.model().window);
  if (!centred) throw Error(ExitCode::input, "'" + name + "' is smaller than the model's window");
  score_all(detector, workspace, centred->view);
  for (const Candidate& c : workspace.candidates) {
    if (detector.verifies() && c.level == 0 && c.x == centred->x && c.y == centred->y) return c.score;
  }
  return score_unseen(detector, detector.score(workspace.levels[0], centred->x, centred->y));
}

// What the rates at 1e-5 need, to stand on more than a window or two.
constexpr std::uint64_t kFewestWindowsToStore = 100'000;

void store(const std::filesystem::path& file, filterbank::Model model, const std::string& data,
           const std::vector<double>& positives, const NegativeScores& negatives) {
  if (negatives.windows() < kFewestWindowsToStore) {
    throw Error(ExitCode::input,
                "the evaluation was not stored: " + std::to_string(negatives.windows()) +
                    " negative windows do not show how many give false positives at 1e-5",
                "give at least " + std::to_string(kFewestWindowsToStore) + " of them");
  }
  const auto points = miss_rates_per_window(positives, negatives, std::vector<double>{1e-4, 1e-5});
  model.evaluation = {points[0].miss_rate(), points[1].miss_rate(), data};
  filterbank::store_evaluation(model, file);
}

// A model in one of its sizes.
struct Contender {
  std::string name;
  std::filesystem::path file;
  filterbank::Model model;
};

// All models in all sizes that were asked for.
std::vector<Contender> load_contenders(const WindowArguments& a) {
  std::vector<std::filesystem::path> files(a.models.begin(), a.models.end());
  std::vector<std::optional<int>> sizes(a.filters.begin(), a.filters.end());
  for (const std::string& model : a.models) require_filterbank("evaluate windows", model);
  if (files.empty()) {
    const Config config = Config::load(find_config(a.config));
    require_filterbank("evaluate windows", config);
    files.push_back(config.path("detector", "model", "models/people.safetensors"));
    if (sizes.empty())
      sizes.push_back(config.optional_whole_number("detector", "filters", 1, filterbank::kMaxFilters));
  }
  if (sizes.empty()) sizes.emplace_back();
  check(a.report, files.size() * sizes.size());
  const std::uint64_t most = std::uint64_t(a.max_model_size.value_or(filterbank::kMaxModelSize)) << 20;
  std::vector<Contender> contenders;
  for (const std::filesystem::path& file : files) {
    for (const std::optional<int>& size : sizes) {
      filterbank::Model model = filterbank::load_model(file, size, most);
      std::string name = file.stem().string();
      if (sizes.size() > 1) name += ", " + std::to_string(model.dictionary.size()) + " filters";
      if (!a.report.names.empty()) name = a.report.names[contenders.size()];
      contenders.push_back({std::move(name), file, std::move(model)});
    }
  }
  return contenders;
}

struct WindowScores {
  std::vector<double> positives;
  NegativeScores negatives;
};

WindowScores score_windows(const filterbank::Model& model, const WindowArguments& a,
                           const FileImageSet& positives, const FileImageSet& negatives) {
  filterbank::Options options;
  options.scale_step = a.scale_step;
  options.computed_scales = a.computed_scales;
  if (a.arithmetic == "float") options.arithmetic = filterbank::Arithmetic::floating_point;
  options.verify = !a.no_verify;
  if (options.verify && !model.network.empty())
    options.threshold = kAnyScore;  // it looks at all that its first-stage threshold lets through
  options.max_candidates = kMostCandidates;
  const filterbank::FilterbankDetector scanner(model, options);
  options.max_size = model.object.height;
  const filterbank::FilterbankDetector single(model, options);

  using Workspaces = oneapi::tbb::enumerable_thread_specific<std::unique_ptr<Workspace>>;
  Workspaces workspaces([&] { return scanner.make_workspace(); });
  const auto local = [&]() -> filterbank::FilterbankWorkspace& {
    return static_cast<filterbank::FilterbankWorkspace&>(*workspaces.local());
  };
  WindowScores scores;
  scores.positives.resize(positives.size());
  oneapi::tbb::parallel_for(std::size_t{0}, positives.size(), [&](std::size_t i) {
    throw_if_stopped();
    scores.positives[i] = score_centre(single, local(), positives.load(i), positives.name(i));
  });
  workspaces.clear();  // another detector's from here on

  oneapi::tbb::enumerable_thread_specific<NegativeScores> negative_scores;
  oneapi::tbb::parallel_for(std::size_t{0}, negatives.size(), [&](std::size_t i) {
    throw_if_stopped();
    const Image<std::uint8_t> image = negatives.load(i);
    filterbank::FilterbankWorkspace& workspace = local();
    if (!score_all(scanner, workspace, image.view())) return;
    NegativeScores& found = negative_scores.local();
    for (const filterbank::Level& level : workspace.levels) {
      for (int y = 0; y < level.windows_y; ++y) {
        for (int x = 0; x < level.windows_x; ++x) {
          const double score = scanner.score(level, x, y);
          if (!scanner.verifies() || score < scanner.first_threshold())
            found.add(score_unseen(scanner, score));
        }
      }
    }
    if (!scanner.verifies()) return;
    for (const Candidate& looked_at : workspace.candidates) found.add(looked_at.score);
  });
  for (const NegativeScores& found : negative_scores) scores.negatives.merge(found);
  return scores;
}

// Prints the figures of one model, and makes its curve.
NamedCurve report_windows(const Contender& contender, const WindowScores& scores) {
  std::printf("%-28s %-10s %s\n", "false positives per window", "miss rate", "threshold");
  const std::vector<double> rates{1e-2, 1e-3, 1e-4, 1e-5};
  std::string summary;
  for (const WindowOperatingPoint& point : miss_rates_per_window(scores.positives, scores.negatives, rates)) {
    std::printf("%-28g %-10s %.4f\n", point.requested_rate, percent(point.miss_rate()).c_str(),
                point.threshold);
    if (point.requested_rate == 1e-4) summary = percent(point.miss_rate()) + " at 10⁻⁴";
  }
  std::fflush(stdout);
  return {contender.name, summary, miss_rate_per_window(scores.positives, scores.negatives),
          scores.positives.size(), scores.negatives.windows()};
}

void store_windows(const Contender& contender, const WindowArguments& a, const WindowScores& scores) {
  char counts[128];
  std::snprintf(counts, sizeof counts, ": %zu windows with the object, %llu without, scale step %g",
                scores.positives.size(), static_cast<unsigned long long>(scores.negatives.windows()),
                a.scale_step);
  // The last name of a path, with or without a slash behind it.
  const auto name = [](const std::filesystem::path& path) {
    return (path / "").parent_path().filename().string();
  };
  const std::string names = name(a.positives) + " and " + name(a.negatives);
  store(contender.file, contender.model, (a.data.empty() ? names : a.data) + counts, scores.positives,
        scores.negatives);
}

int run_windows(const WindowArguments& a) {
  if (a.store && (a.arithmetic != "exact" || a.computed_scales != 0 || a.no_verify)) {
    throw Error(ExitCode::usage,
                "--store keeps what exact arithmetic and the whole model give on every scale",
                "leave out --store, or --arithmetic, --computed-scales and --no-verify");
  }
  const std::vector<Contender> contenders = load_contenders(a);
  const FileImageSet positives(a.positives, a.folder);
  const FileImageSet negatives(a.negatives);
  if (a.store) {  // files are replaced by files written beside them
    for (const Contender& contender : contenders) require_writable(contender.file.string() + ".new");
  }
  std::vector<NamedCurve> curves;
  for (const Contender& contender : contenders) {
    const WindowScores scores = score_windows(contender.model, a, positives, negatives);
    if (contenders.size() > 1) std::printf("%s%s\n", curves.empty() ? "" : "\n", contender.name.c_str());
    std::printf("%zu positive windows, %llu negative windows from %zu pictures (stride 8, scale step %g)\n",
                scores.positives.size(), static_cast<unsigned long long>(scores.negatives.windows()),
                negatives.size(), a.scale_step);
    curves.push_back(report_windows(contender, scores));
    if (a.store) store_windows(contender, a, scores);
  }
  write_reports(a.report, curves, FalsePositiveUnit::per_window, "Miss rate per window");
  return 0;
}

void add_windows(CLI::App& evaluate, Common& common) {
  CLI::App* command =
      evaluate.add_subcommand("windows", "Miss rate against false positives per window (filter-bank models)");
  auto a = std::make_shared<WindowArguments>();
  command
      ->add_option("--positives", a->positives,
                   "Folder or list of pictures with one object in the middle each")
      ->required();
  command->add_option("--folder", a->folder, "Where the pictures of the list are, if not beside it");
  command
      ->add_option("--negatives", a->negatives,
                   "Folder or list of pictures without the object; every window is scored")
      ->required();
  command->add_option("-c,--config", a->config, "Pipeline whose model is evaluated")->capture_default_str();
  command
      ->add_option("-m,--model", a->models,
                   "Model file instead of the configuration's; several times: a curve for each")
      ->allow_extra_args(false);
  command
      ->add_option("--filters", a->filters,
                   "Size of the model's dictionary, of those it has; the configuration's, or the largest of "
                   "a --model, unless given; several, as in 25,50,100: a curve for each")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_model_size_option(*command, a->max_model_size);
  command->add_option("--scale-step", a->scale_step, "Ratio of neighbouring scales")
      ->check(CLI::Range(1.01, 8.0))
      ->capture_default_str();
  command
      ->add_option(
          "--computed-scales", a->computed_scales,
          "Scales in each octave that are filtered, the others follow from the nearest of them; 0: all")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--arithmetic", a->arithmetic, "exact or float")
      ->check(CLI::IsMember({"exact", "float"}))
      ->capture_default_str();
  command->add_flag("--no-verify", a->no_verify, "Without the verification network, where the model has one");
  CLI::Option* store = command->add_flag(
      "--store", a->store, "Keep the miss rates at 1e-4 and 1e-5 in the model file, for this size");
  command
      ->add_option("--data", a->data,
                   "With --store: what the pictures are (default: the names of list and folder)")
      ->needs(store);
  add_report_options(*command, a->report);
  command->callback([a, &common] { common.run = [a] { return run_windows(*a); }; });
}

// --- frames
// -----------------------------------------------------------------------------------------------------

struct FrameArguments {
  std::string input;
  std::string truth;
  std::string truth_format = "mot";
  std::string protocol = "people";
  double first_pixel = 0;
  media::ReadOptions reading;
  std::string label;
  bool unlisted_empty = false;
  DetectorOptions detector;
  ReportArguments report;
};

// What the ground truth calls a frame: its number, or the name of its picture.
const std::vector<TruthBox>* truth_of(const GroundTruth& truth, const media::Frame& frame) {
  return frame.name().empty() ? truth.find(frame.number())
                              : truth.find(std::filesystem::path(frame.name()).filename().string());
}

GroundTruth load_truth(const FrameArguments& a) {
  if (a.truth_format == "mot") return load_mot_truth(a.truth, a.first_pixel);
  if (a.truth_format == "boxes") return load_box_list(a.truth);
  // YOLO boxes are relative: the pictures' sizes are needed first.
  std::map<std::string, Size> sizes;
  media::Reader reader(a.input);
  while (const auto frame = reader.read()) {
    const std::string name = frame->name().empty() ? std::to_string(frame->number())
                                                   : std::filesystem::path(frame->name()).filename().string();
    sizes[name] = frame->size();
  }
  return load_yolo_truth(a.truth, sizes);
}

// The frames that are marked; the others need not be searched, unless they are known to hold nothing.
class MarkedFrames : public pipeline::Source {
 public:
  MarkedFrames(media::Reader& reader, const GroundTruth& truth, bool all)
      : reader_(reader), truth_(truth), all_(all) {}
  std::optional<media::Frame> read() override {
    for (;;) {
      std::optional<media::Frame> frame = reader_.read();
      if (!frame || all_ || truth_of(truth_, *frame)) return frame;
    }
  }

 private:
  media::Reader& reader_;
  const GroundTruth& truth_;
  const bool all_;
};

class Scorer : public pipeline::Sink {
 public:
  Scorer(const GroundTruth& truth, const MatchOptions& matching, int label)
      : truth_(truth), matching_(matching), label_(label) {}
  void accept(const media::Frame& frame, const FrameResult& result) override {
    std::vector<Detection> found = result.objects;
    std::erase_if(found, [&](const Detection& one) { return one.label != label_; });
    const std::vector<TruthBox>* marked = truth_of(truth_, frame);
    scores.add(found, match_detections(found, marked ? *marked : std::vector<TruthBox>(), matching_));
  }
  ImageScores scores;

 private:
  const GroundTruth& truth_;
  const MatchOptions& matching_;
  const int label_;
};

// Of the objects that are marked, among those that the detector finds; the first unless named.
int label_of(const FrameArguments& a, const DetectorInfo& detector) {
  if (a.label.empty()) return 0;
  const auto found = std::find(detector.labels.begin(), detector.labels.end(), a.label);
  if (found != detector.labels.end()) return static_cast<int>(found - detector.labels.begin());
  std::string known;
  for (const std::string& label : detector.labels) known += (known.empty() ? "" : ", ") + label;
  throw Error(ExitCode::usage, "the detector finds no '" + a.label + "'", "it finds: " + known);
}

int run_frames(const FrameArguments& a) {
  check(a.report, 1);
  const GroundTruth truth = load_truth(a);
  // Everything that scores above -1 enters the curve; below lie the easy negatives of a support vector
  // machine. A cascade's windows are reported from groups of two on: one alone is seldom an object.
  const Engine engine = a.detector.make({-1.0, 1});
  MatchOptions matching = a.protocol == "people" ? MatchOptions::people() : MatchOptions::faces();
  if (a.protocol == "centre") matching.criterion = MatchCriterion::centre;

  media::ReadOptions reading = a.reading;
  reading.stop = &stop_requested();
  media::Reader reader(a.input, reading);
  MarkedFrames source(reader, truth, a.unlisted_empty);
  Scorer scorer(truth, matching, label_of(a, engine.detector->info()));
  pipeline::Pipeline pipeline(*engine.detector, engine.device.get(), engine.resolve(), {engine.threads});
  pipeline::RunOptions options;
  options.stop = reading.stop;
  const pipeline::RunReport report = pipeline.run({&source, a.input, {&scorer}, {}}, options);
  if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
  const ImageScores& scores = scorer.scores;
  throw_if_stopped();
  if (scores.images == 0) {
    throw Error(ExitCode::input, "no frame of '" + a.input + "' is marked in '" + a.truth + "'",
                "frames are matched by number, pictures of a folder by file name");
  }

  const std::vector<DetPoint> curve = miss_rate_per_image(scores);
  const double average = log_average_miss_rate(curve);
  std::printf("%lld frames with %lld objects; protocol %s\n", static_cast<long long>(scores.images),
              static_cast<long long>(scores.positives), a.protocol.c_str());
  std::printf("log-average miss rate   %.4f\n", average);
  std::printf("average precision       %.4f\n", average_precision(precision_recall(scores)));
  std::printf("%-28s %s\n", "false positives per image", "miss rate");
  for (const double rate : {0.01, 0.1, 1.0})
    std::printf("%-28g %s\n", rate, percent(miss_rate_at(curve, rate)).c_str());
  if (!curve.empty()) {
    std::printf("all %-24.4g %s\n", curve.back().false_positive_rate,
                percent(curve.back().miss_rate).c_str());
  }
  const std::string name =
      a.report.names.empty() ? std::filesystem::path(a.input).filename().string() : a.report.names.front();
  write_reports(a.report,
                {{name, "log-average " + percent(average), curve,
                  static_cast<std::uint64_t>(scores.positives), static_cast<std::uint64_t>(scores.images)}},
                FalsePositiveUnit::per_image, "Miss rate per frame");
  return 0;
}

void add_frames(CLI::App& evaluate, Common& common) {
  CLI::App* command =
      evaluate.add_subcommand("frames", "Miss rate against false positives per frame, with marked objects");
  auto a = std::make_shared<FrameArguments>();
  command->add_option("input", a->input, "Video or folder of pictures")->required();
  command->add_option("--truth", a->truth, "The marked objects: a file, or for YOLO a folder")->required();
  command->add_option("--truth-format", a->truth_format, "mot, yolo, or boxes (lines of: name x1 y1 x2 y2)")
      ->check(CLI::IsMember({"mot", "yolo", "boxes"}))
      ->capture_default_str();
  command->add_option("--first-pixel", a->first_pixel, "1 where a MOT file counts pixels from 1")
      ->check(CLI::IsMember({0.0, 1.0}))
      ->capture_default_str();
  command
      ->add_option("--protocol", a->protocol,
                   "people (overlap 0.5 at a width of 0.41 x height), faces (overlap 0.4), centre "
                   "(detection's centre in the box)")
      ->check(CLI::IsMember({"people", "faces", "centre"}))
      ->capture_default_str();
  command->add_flag("--unlisted-empty", a->unlisted_empty,
                    "Frames that the truth does not list hold nothing (default: they are left out)");
  command->add_option("--label", a->label,
                      "What is marked, of all that the detector finds (default: the first of its labels)");
  add_limit_options(*command, a->reading, "Options");
  a->detector.add_to(*command);
  add_report_options(*command, a->report);
  command->callback([a, &common] { common.run = [a] { return run_frames(*a); }; });
}

}  // namespace

void add_evaluate(CLI::App& app, Common& common) {
  CLI::App* evaluate = app.add_subcommand("evaluate", "Measure how good a detector is");
  evaluate->require_subcommand(1);
  add_windows(*evaluate, common);
  add_frames(*evaluate, common);
}

}  // namespace sightline::apps
