// `sightline evaluate frames`: how good a detector is, per frame.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/detector_options.hpp"
#include "apps/common/judge.hpp"
#include "apps/common/marked_pictures.hpp"
#include "apps/common/media_options.hpp"
#include "apps/evaluate/class_report.hpp"
#include "apps/evaluate/miss_report.hpp"
#include "apps/evaluate/report_options.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"
#include "base/utf8.hpp"
#include "evaluation/calibration.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/decisions.hpp"
#include "evaluation/ground_truth.hpp"
#include "evaluation/matching.hpp"
#include "evaluation/report.hpp"
#include "media/folder.hpp"
#include "media/reader.hpp"
#include "model/safetensors.hpp"
#include "pipeline/report/curve_plot.hpp"
#include "pipeline/runs/parted_run.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::apps {
namespace {

struct FrameArguments {
  std::string input;
  std::string truth;
  std::string truth_format;  // empty: recognised
  std::string truth_label;
  std::string protocol = "people";
  double first_pixel = 0;
  media::ReadOptions reading;
  std::string label;
  bool unlisted_empty = false;
  std::optional<double> misses;  // false positives a frame
  std::string misses_sheet;
  std::string coco;          // table
  std::string json;          // file
  std::string decisions;     // file
  std::optional<double> at;  // score
  std::string calibrated;    // model file
  std::string reliability;   // SVG file
  DetectorOptions detector;
  ReportArguments report;
};

// The name of a frame in the ground truth: its number, or the file name of its picture.
std::string frame_name(const Frame& frame, bool by_number = false) {
  return by_number || frame.name().empty() ? std::to_string(frame.number())
                                           : std::filesystem::path(frame.name()).filename().string();
}

// The MOT file of a folder, which may be that of a whole sequence; nothing where there is none.
std::optional<std::filesystem::path> mot_file_of(const std::filesystem::path& folder) {
  std::error_code error;
  for (const char* const place : {"gt/gt.txt", "gt.txt"}) {
    if (std::filesystem::is_regular_file(folder / place, error)) return folder / place;
  }
  return std::nullopt;
}

// The pictures of a MOT sequence, whose folder has none itself; other inputs are returned as they are.
std::string frames_of_sequence(const std::string& input) {
  std::error_code error;
  const std::filesystem::path pictures = std::filesystem::path(input) / "img1";
  if (!std::filesystem::is_directory(pictures, error) || !media::list_folder(input, false).images.empty())
    return input;
  spdlog::info("'{}' is a MOT sequence; reading '{}'", input, pictures.string());
  return pictures.string();
}

// The format of ground truth: a folder with gt/gt.txt or gt.txt is MOT, another folder YOLO; a .json file
// COCO; a text file whose first row has commas MOT, another one a list of boxes.
std::string recognised_format(const std::filesystem::path& truth) {
  std::error_code error;
  if (std::filesystem::is_directory(truth, error)) return mot_file_of(truth) ? "mot" : "yolo";
  if (truth.extension() == ".json") return "coco";
  refuse_special_file(truth);
  std::ifstream file(truth);
  std::string row;
  while (std::getline(file, row) && trimmed(without_byte_order_mark(row)).empty()) {
  }
  return row.find(',') == std::string::npos ? "boxes" : "mot";
}

// Objects by the frame that they are marked in.
struct MarkedObjects {
  GroundTruth truth;
  bool by_number = false;  // frames are named by their number, also those of pictures

  // A picture's name here; lists may leave out its ending.
  std::string key(const Frame& frame) const {
    std::string name = frame_name(frame, by_number);
    if (by_number || truth.find(name)) return name;
    std::string stem = std::filesystem::path(name).stem().string();
    return truth.find(stem) ? stem : name;
  }
  const std::vector<TruthBox>* find(const Frame& frame) const { return truth.find(key(frame)); }
};

GroundTruth load_all_truth(const FrameArguments& a, const std::string& format) {
  if (format == "mot") return load_mot_truth(mot_file_of(a.truth).value_or(a.truth), a.first_pixel);
  if (format == "boxes") return load_box_list(a.truth);
  if (format == "coco") return load_coco_truth(a.truth);
  // YOLO boxes are relative: the pictures' sizes are needed first.
  std::map<std::string, Size> sizes;
  media::Reader reader(a.input);
  while (const auto frame = reader.read()) sizes[frame_name(*frame)] = frame->size();
  GroundTruth truth = load_yolo_truth(a.truth, sizes);
  // Label files of pictures that are not there count as marks that match none.
  std::set<std::string> stems;
  for (const auto& [name, size] : sizes) stems.insert(std::filesystem::path(name).stem().string());
  for (const auto& entry : std::filesystem::directory_iterator(a.truth)) {
    const std::filesystem::path name = entry.path().filename();
    if (name.extension() == ".txt" && name != "classes.txt" && !stems.contains(name.stem().string()))
      truth.annotate(name.string());
  }
  return truth;
}

MarkedObjects load_truth(const FrameArguments& a) {
  const std::string format = a.truth_format.empty() ? recognised_format(a.truth) : a.truth_format;
  if (a.truth_format.empty()) spdlog::info("truth: '{}' read as {}", a.truth, format);
  MarkedObjects marked{load_all_truth(a, format), format == "mot"};
  if (!a.truth_label.empty()) marked.truth.keep_label(a.truth_label);
  return marked;
}

// The frames that are marked; the others need not be searched, unless they are known to hold nothing.
class MarkedFrames : public FrameSource {
 public:
  MarkedFrames(media::Reader& reader, const MarkedObjects& truth, bool all)
      : reader_(reader), truth_(truth), all_(all) {}
  std::optional<Frame> read() override {
    for (;;) {
      std::optional<Frame> frame = reader_.read();
      if (frame) names_.insert(truth_.key(*frame));
      if (!frame || all_ || truth_.find(*frame)) return frame;
    }
  }
  // At most: as many as there are, marked or not.
  std::optional<std::int64_t> frames() const override { return reader_.info().frames; }
  // Of all frames that there were, marked or not.
  const std::set<std::string>& names() const { return names_; }

 private:
  media::Reader& reader_;
  const MarkedObjects& truth_;
  const bool all_;
  std::set<std::string> names_;
};

// Of the objects of the label that is marked.
std::vector<Detection> labelled(const FrameResult& result, int label) {
  std::vector<Detection> found = result.objects;
  std::erase_if(found, [&](const Detection& one) { return one.label != label; });
  return found;
}

class Scorer : public pipeline::Sink {
 public:
  // @param truth  of the label
  Scorer(const MarkedObjects& truth, const MatchOptions& matching, int label)
      : truth_(truth), matching_(matching), label_(label) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    std::vector<Detection> objects = labelled(result, label_);
    const std::vector<TruthBox>* marked = truth_.find(frame);
    const MatchResult match =
        match_detections(objects, marked ? *marked : std::vector<TruthBox>(), matching_);
    scores.add(objects, match);
    std::vector<JudgedBox>& boxes = judged.emplace_back();
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (match.verdicts[i] != Verdict::ignored)
        boxes.push_back({objects[i].score, match.verdicts[i] == Verdict::true_positive});
    }
    if (const auto score = picture_score(objects, marked)) pictures.push_back(*score);
    found.push_back(std::move(objects));
  }
  ImageScores scores;
  std::vector<PictureScore> pictures;          // but for those of which only unclear things are marked
  std::vector<std::vector<Detection>> found;   // of each frame
  std::vector<std::vector<JudgedBox>> judged;  // of each frame

 private:
  const MarkedObjects& truth_;
  const MatchOptions& matching_;
  const int label_;
};

// Compares the objects of all classes.
class ClassScorer : public pipeline::Sink {
 public:
  ClassScorer(const MarkedObjects& truth, ClassReport& report) : truth_(truth), report_(report) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    const std::vector<TruthBox>* marked = truth_.find(frame);
    report_.add(result.objects, marked ? *marked : std::vector<TruthBox>());
  }

 private:
  const MarkedObjects& truth_;
  ClassReport& report_;
};

// Sees the same frames again, with all windows that are left.
class MissExaminer : public pipeline::Sink {
 public:
  MissExaminer(const MarkedObjects& truth, const Scorer& scorer, int label, MissReport& report)
      : truth_(truth), scorer_(scorer), label_(label), report_(report) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    const std::vector<Detection>& found = scorer_.found.at(next_++);
    if (const std::vector<TruthBox>* marked = truth_.find(frame))
      report_.add(frame, frame_name(frame), found, labelled(result, label_), *marked);
  }

 private:
  const MarkedObjects& truth_;
  const Scorer& scorer_;
  const int label_;
  MissReport& report_;
  std::size_t next_ = 0;
};

// The label whose miss rate is measured: unless the user names one, the first that is the name of a class of
// the truth that has objects, or else the first.
int label_of(const FrameArguments& a, const DetectorInfo& detector, const GroundTruth& truth) {
  if (a.label.empty()) {
    std::set<std::string> marked;
    for (const auto& [name, boxes] : truth.images) {
      for (const TruthBox& box : boxes) {
        if (const auto label = truth.labels.find(box.label); label != truth.labels.end() && !box.ignore)
          marked.insert(label->second);
      }
    }
    const auto first = std::ranges::find_if(detector.labels,
                                            [&](const std::string& label) { return marked.contains(label); });
    return first == detector.labels.end() ? 0 : static_cast<int>(first - detector.labels.begin());
  }
  const auto found = std::find(detector.labels.begin(), detector.labels.end(), a.label);
  if (found != detector.labels.end()) return static_cast<int>(found - detector.labels.begin());
  throw Error(ExitCode::usage, "the detector has no label '" + a.label + "'",
              fmt::format("it finds: {}", fmt::join(detector.labels, ", ")));
}

// The objects that a label is to find: those of its class, unless the user has chosen one, or no class has
// its name.
MarkedObjects marked_for(const FrameArguments& a, const std::string& label, const MarkedObjects& all) {
  MarkedObjects marked = all;
  if (!a.truth_label.empty()) return marked;
  if (all.truth.has_label(label)) {
    marked.truth.keep_label(label);
    return marked;
  }
  std::set<std::string> classes;
  for (const auto& [image, boxes] : all.truth.images) {
    for (const TruthBox& box : boxes) {
      const auto name = all.truth.labels.find(box.label);
      classes.insert(name == all.truth.labels.end() ? std::to_string(box.label) : name->second);
    }
  }
  if (classes.size() > 1 || (!classes.empty() && !all.truth.labels.empty())) {
    spdlog::warn("the truth has no class called '{}': all its objects ({}) count as '{}'; {}", label,
                 fmt::join(classes, ", "), label,
                 all.truth.labels.empty() ? "name its classes in classes.txt"
                                          : "--truth-label takes those of one class");
  }
  return marked;
}

// Whether COCO's measures are of one class alone: the user has chosen it, or truth and detector share none.
bool is_one_class(const FrameArguments& a, const std::string& label, const GroundTruth& truth) {
  return !a.label.empty() || !a.truth_label.empty() || !truth.has_label(label);
}

// Searches the frames that are marked. Returns the names of all frames that there were.
// @param needs_pixels  the sinks need the frames' pixels and sizes
std::set<std::string> search(const FrameArguments& a, const DetectorEngine& engine,
                             const MarkedObjects& truth, std::vector<pipeline::Sink*> sinks,
                             bool needs_pixels = false) {
  media::ReadOptions reading = a.reading;
  reading.stop = &stop_requested();
  reading.keep_colour = reads_colour(engine.detector());
  media::Reader reader(a.input, reading);
  MarkedFrames source(reader, truth, a.unlisted_empty);
  pipeline::Pipeline pipeline(engine.detector(), engine.devices(), engine.resolve(), {engine.threads});
  pipeline::RunOptions options;
  options.stop = reading.stop;
  pipeline::Stream stream{&source, a.input, std::move(sinks), {}};
  stream.tiles = engine.tiles;
  pipeline::PartedReport report;
  if (needs_pixels) {
    report.run = pipeline.run(stream, options);
  } else {
    pipeline::PartedInput input{reading, reader, engine.schedule.in_flight};
    if (!a.unlisted_empty)
      input.selection.is_wanted = [&](std::int64_t number) { return truth.find(Frame(nullptr, number, 0)); };
    std::size_t decoders = pipeline::kFirstDecoders;
    report = pipeline::run_in_parts(pipeline, stream, input, options, decoders);
  }
  if (report.run.failed > 0) throw Error(ExitCode::failed, report.run.first_failure);
  throw_if_stopped();
  std::set<std::string> names = source.names();
  for (std::int64_t i = 1; i <= report.in_parts.frames; ++i) names.insert(std::to_string(i));
  return names;
}

// Says which marks belong to no frame. Throws Error (input) where none does.
void check_names(const FrameArguments& a, const MarkedObjects& marked, const std::set<std::string>& frames) {
  std::vector<std::string> missing;
  for (const auto& [name, boxes] : marked.truth.images) {
    if (!frames.contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  if (missing.size() == marked.truth.images.size() && !a.unlisted_empty) {
    throw Error(ExitCode::input,
                "no frame of '" + a.input + "' is marked in '" + a.truth + "'" +
                    (frames.empty() ? "" : ": " + unlike_names(*frames.begin(), missing.front())),
                "frames are matched by number, pictures of a folder by file name");
  }
  const media::ReadOptions& reading = a.reading;
  if (reading.start > 0 || reading.duration || reading.every > 1) return;  // the others were not looked for
  spdlog::warn("'{}' marks {} that '{}' does not have, for example '{}'", a.truth,
               counted(std::ssize(missing), marked.by_number ? "frame" : "picture"), a.input,
               missing.front());
}

// Says why objects are missed.
// @param engine  of windows
void report_misses(const FrameArguments& a, const DetectorEngine& engine, const MarkedObjects& truth,
                   const Scorer& scorer, int label, const MatchOptions& matching,
                   std::span<const DetPoint> curve) {
  const DetPoint* const point = point_at(curve, *a.misses);
  const double threshold = point ? point->threshold : std::numeric_limits<double>::infinity();
  MissReport report({matching, threshold, engine.detector().info().smallest_object()},
                    !a.misses_sheet.empty());
  MissExaminer examiner(truth, scorer, label, report);
  search(a, engine, truth, {&examiner}, true);
  std::printf("\nMissed at %g false positives per image (a score of %.3f):\n%s", *a.misses, threshold,
              report.text().c_str());
  if (a.misses_sheet.empty()) return;
  report.write_sheet(a.misses_sheet);
  spdlog::info("wrote {}", a.misses_sheet);
}

constexpr double kShownRates[] = {0.01, 0.1, 1.0};  // false positives per image

std::string curve_name(const FrameArguments& a) {
  return a.report.names.empty() ? std::filesystem::path(a.input).filename().string() : a.report.names.front();
}

// How well pictures with objects are told from those without.
void report_decisions(const FrameArguments& a, std::span<const PictureScore> pictures) {
  const bool is_asked = a.at || !a.decisions.empty();
  const auto with = std::ranges::count_if(pictures, &PictureScore::has_object);
  if (!is_asked && (with == 0 || with == std::ssize(pictures))) return;
  const Decisions decisions = decide(curve_name(a), pictures);
  std::printf(
      "\nDecisions between %lld pictures with objects and %lld without, by the highest score in each:\n%s",
      static_cast<long long>(with), static_cast<long long>(std::ssize(pictures) - with),
      decision_table(decisions).c_str());
  if (a.at) {
    const Decision at{*a.at, decisions.at(*a.at).counts};
    std::printf("At the score of --at:\n%s%s", decision_heading().c_str(), decision_row(at).c_str());
  }
  if (a.decisions.empty()) return;
  write_report(a.decisions, decisions_as_csv({&decisions, 1}));
  spdlog::info("wrote {}", a.decisions);
}

// Writes the model with a calibration that is fitted to the boxes, and shows how far that holds.
void calibrate(const FrameArguments& a, const Config& config,
               std::span<const std::vector<JudgedBox>> judged) {
  const std::string key = a.detector.family().calibration_key(config);
  const std::filesystem::path file = config.model_path("detector", "model", "");
  if (key.empty())
    throw Error(ExitCode::usage,
                "cannot calibrate '" + file.string() + "': this kind of model cannot store a calibration",
                "--calibrate is for models that Sightline trains, with their verification network");
  std::vector<JudgedBox> all;
  for (const auto& boxes : judged) all.insert(all.end(), boxes.begin(), boxes.end());
  const ScoreCalibration calibration = fit_calibration(all);
  const Reliability reliability = cross_validate_calibration(judged);
  std::printf("\nReliability, five-fold over pictures; half of the boxes are right from a score of %.3f:\n%s",
              calibration.score_at(0.5), reliability_table(reliability).c_str());
  Safetensors model = Safetensors::load(file);
  model.metadata[key] = calibration.to_text();
  model.save(a.calibrated);
  spdlog::info("wrote {}", a.calibrated);
  if (a.reliability.empty()) return;
  write_report(a.reliability, report::to_svg({reliability_chart(reliability, file.stem().string())}));
  spdlog::info("wrote {}", a.reliability);
}

nlohmann::ordered_json figures_as_json(const FrameArguments& a, const ImageScores& scores,
                                       const std::vector<DetPoint>& curve, const std::string& label,
                                       const ClassReport& classes) {
  nlohmann::ordered_json json{{"frames", scores.images},
                              {"label", label},
                              {"objects", scores.positives},
                              {"protocol", a.protocol},
                              {"log_average_miss_rate", log_average_miss_rate(curve)},
                              {"average_precision", average_precision(precision_recall(scores))}};
  for (const double rate : kShownRates)
    json["miss_rates"].push_back(
        {{"false_positives_per_image", rate}, {"miss_rate", miss_rate_at(curve, rate)}});
  json["coco"] = classes.as_json();
  return json;
}

// Prints the figures, and writes the reports that were asked for.
void report_frames(const FrameArguments& a, const ImageScores& scores, const std::vector<DetPoint>& curve,
                   const std::string& label, const ClassReport& classes) {
  const double average = log_average_miss_rate(curve);
  std::printf("%s with %s; protocol %s; label '%s'\n", counted(scores.images, "frame").c_str(),
              counted(scores.positives, "object").c_str(), a.protocol.c_str(), printable(label).c_str());
  std::printf("log-average miss rate   %.4f\n", average);
  const std::vector<PrecisionRecallPoint> precision = precision_recall(scores);
  std::printf("average precision       %.4f\n", average_precision(precision));
  if (const PrecisionRecallPoint* const best = best_by_f1(precision)) {
    std::printf("best F1 of objects      %.4f: precision %.4f, recall %.4f, at threshold %.4g\n",
                f1_score(best->precision, best->recall), best->precision, best->recall, best->threshold);
  }
  std::printf("%-28s %s\n", "false positives per image", "miss rate");
  for (const double rate : kShownRates)
    std::printf("%-28g %s\n", rate, percent(miss_rate_at(curve, rate)).c_str());
  if (!curve.empty()) {
    std::printf("all %-24.4g %s\n", curve.back().false_positive_rate,
                percent(curve.back().miss_rate).c_str());
  }
  std::printf("%s", classes.text().c_str());
  write_if_named(a.coco, [&] { return classes.as_csv(); });
  write_if_named(a.json,
                 [&] { return json_text(figures_as_json(a, scores, curve, label, classes), 2) + '\n'; });
  write_reports(a.report,
                {{curve_name(a), summary_of(curve, FalsePositiveUnit::per_image), curve,
                  static_cast<std::uint64_t>(scores.positives), static_cast<std::uint64_t>(scores.images)}},
                FalsePositiveUnit::per_image);
}

int run_frames(FrameArguments a) {
  prepare_reading(a.input, a.reading);
  a.input = frames_of_sequence(a.input);
  check_report(a.report, 1);
  if (!a.misses_sheet.empty() && !a.misses)
    throw Error(ExitCode::usage, "--misses-sheet needs --misses", "add for example --misses 0.1");
  if (a.misses && a.detector.asks_for_tiles()) {
    throw Error(ExitCode::usage, "--misses cannot be combined with --tiles",
                "leave one of them out: misses are explained by the windows of whole frames");
  }
  if (!a.reliability.empty() && a.calibrated.empty())
    throw Error(ExitCode::usage, "--reliability needs --calibrate", "add --calibrate FILE");
  refuse_same_outputs(
      {a.report.csv, a.report.svg, a.misses_sheet, a.decisions, a.calibrated, a.reliability, a.coco, a.json});
  require_writable(a.calibrated);
  require_writable(a.reliability);
  require_writable(a.decisions);
  require_writable(a.misses_sheet);
  require_writable(a.coco);
  require_writable(a.json);
  const MarkedObjects all = load_truth(a);
  const DetectorEngine engine = a.detector.make(Wanted::low_scores);
  std::optional<DetectorEngine> of_windows;  // before the work, so that it is not done for nothing
  if (a.misses) of_windows = a.detector.make(Wanted::windows);
  const MatchOptions matching = matching_of(a.protocol);

  const DetectorInfo& info = engine.detector().info();
  const int label = label_of(a, info, all.truth);
  const std::string name = info.labels.at(static_cast<std::size_t>(label));
  const MarkedObjects truth = marked_for(a, name, all);
  Scorer scorer(truth, matching, label);
  const bool is_one = is_one_class(a, name, all.truth);
  ClassReport classes = is_one ? ClassReport(label, name) : ClassReport(all.truth.labels, info.labels);
  ClassScorer class_scorer(is_one ? truth : all, classes);
  check_names(a, all, search(a, engine, all, {&scorer, &class_scorer}));
  const ImageScores& scores = scorer.scores;
  if (scores.images == 0)
    throw Error(ExitCode::input, "no frame of '" + a.input + "' is marked in '" + a.truth + "'",
                "mark objects in some frames, or empty frames by their names alone");

  const std::vector<DetPoint> curve = miss_rate_per_image(scores);
  classes.finish();
  report_frames(a, scores, curve, name, classes);
  report_decisions(a, scorer.pictures);
  if (of_windows) report_misses(a, *of_windows, truth, scorer, label, matching, curve);
  if (!a.calibrated.empty()) calibrate(a, a.detector.config(Wanted::low_scores), scorer.judged);
  return 0;
}

}  // namespace

void add_evaluate_frames(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<FrameArguments>();
  OptionSet options;
  options.add("input", &a->input, "Video, folder of pictures, or MOT sequence (a folder with img1)")
      .require();
  options
      .add("--truth FILE", &a->truth,
           "Marked objects: a box list, MOT (gt.txt, or a folder with gt/gt.txt or gt.txt), COCO (.json) or "
           "YOLO (a folder)")
      .require();
  options
      .add("--truth-format FORMAT", &a->truth_format,
           "Format of the truth: mot, yolo, coco, or boxes (lines: name x1 y1 x2 y2, and a class if there "
           "are several); default: recognised from the file")
      .one_of({"mot", "yolo", "coco", "boxes"});
  options
      .add("--truth-label CLASS", &a->truth_label,
           "Class of the marked objects (default: the one of the label's name, or all where there is none)")
      .free_text();
  options.add("--first-pixel N", &a->first_pixel, "First pixel of a MOT file: 0 or 1")
      .one_of({"0", "1"})
      .show_default();
  options
      .add("--protocol PROTOCOL", &a->protocol,
           "Rule for a match: people (overlap 0.5 at a width of 0.41 x height), faces (overlap 0.4), centre "
           "(detection's centre in the box)")
      .one_of({"people", "faces", "centre"})
      .show_default();
  options.add("--unlisted-empty", &a->unlisted_empty,
              "Count frames that the truth does not list as empty (default: skip them)");
  options
      .add("--label LABEL", &a->label,
           "Label of the detector whose miss rate is measured (default: the first that the truth marks by "
           "name, or its first); COCO's measures are of all classes unless this or --truth-label is given")
      .free_text();
  options
      .add("--coco FILE", &a->coco,
           "Table (CSV) of COCO's measures (AP and AR by overlap, object size and number of boxes), with a "
           "row "
           "for each class and one for the mean")
      .checked_by(OutputFile{{".csv", ".txt"}});
  options.add("--json FILE", &a->json, "Write the miss rates and COCO's measures as JSON")
      .checked_by(OutputFile{{".json"}});
  options
      .add("--misses RATE", &a->misses,
           "Explain misses at this many false positives per image, for example 0.1: by height, occlusion and "
           "the frame's edge (searches all frames twice)")
      .between(0, 1e6);
  options
      .add("--misses-sheet FILE", &a->misses_sheet,
           "Picture (PNG) of the worst misses: the least occluded and largest; needs --misses")
      .checked_by(OutputFile{{".png"}});
  options
      .add("--decisions FILE", &a->decisions,
           "Table of decisions between pictures with objects and without, at every score")
      .checked_by(OutputFile{{".csv", ".txt"}});
  options.add("--at SCORE", &a->at,
              "Also print decisions at this score; choose it on other pictures for an unbiased result");
  options
      .add("--calibrate FILE", &a->calibrated,
           "Model file to write, with a calibration fitted to these pictures, which turns scores into "
           "confidences (0 to 1)")
      .checked_by(OutputFile{{".safetensors"}});
  options
      .add("--reliability FILE", &a->reliability,
           "Plot (SVG) of confidences against accuracy on pictures that they were not fitted to; needs "
           "--calibrate")
      .checked_by(OutputFile{{".svg"}});
  a->detector.add_tiles_to(options);
  add_limit_options(options, a->reading);
  add_decoder_option(options, a->reading);
  add_timeout_option(options, a->reading);
  a->detector.add_to(options);
  add_report_options(options, a->report);
  add_command(evaluate, common, "frames",
              "Measure miss rate against false positives per frame, and COCO's average precision", options,
              [a] { return run_frames(*a); });
}

}  // namespace sightline::apps
