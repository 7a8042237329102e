// `sightline evaluate frames`: how good a detector is, per frame.
#include <cstdio>
#include <filesystem>

#include "base/error.hpp"
#include "commands.hpp"
#include "detector_options.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/ground_truth.hpp"
#include "evaluation/matching.hpp"
#include "evaluation/report.hpp"
#include "media/reader.hpp"
#include "media_options.hpp"
#include "pipeline/sources.hpp"
#include "report_options.hpp"
#include "stop.hpp"

namespace sightline::apps {
namespace {

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

// Prints the figures, and writes the reports that were asked for.
void report_frames(const FrameArguments& a, const ImageScores& scores) {
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
}

int run_frames(const FrameArguments& a) {
  check_report(a.report, 1);
  const GroundTruth truth = load_truth(a);
  const Engine engine = a.detector.make(true);
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

  report_frames(a, scores);
  return 0;
}

}  // namespace

void add_evaluate_frames(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<FrameArguments>();
  OptionSet options;
  options.add("input", &a->input, "Video or folder of pictures").require();
  options.add("--truth", &a->truth, "The marked objects: a file, or for YOLO a folder").require();
  options.add("--truth-format", &a->truth_format, "mot, yolo, or boxes (lines of: name x1 y1 x2 y2)")
      .one_of({"mot", "yolo", "boxes"})
      .show_default();
  options.add("--first-pixel", &a->first_pixel, "1 where a MOT file counts pixels from 1")
      .one_of({"0", "1"})
      .show_default();
  options
      .add(
          "--protocol", &a->protocol,
          "people (overlap 0.5 at a width of 0.41 x height), faces (overlap 0.4), centre (detection's centre "
          "in the box)")
      .one_of({"people", "faces", "centre"})
      .show_default();
  options.add("--unlisted-empty", &a->unlisted_empty,
              "Frames that the truth does not list hold nothing (default: they are left out)");
  options
      .add("--label", &a->label,
           "What is marked, of all that the detector finds (default: the first of its labels)")
      .free_text();
  add_limit_options(options, a->reading);
  a->detector.add_to(options);
  add_report_options(options, a->report);
  add_command(evaluate, common, "frames", "Miss rate against false positives per frame, with marked objects",
              options, [a] { return run_frames(*a); });
}

}  // namespace sightline::apps
