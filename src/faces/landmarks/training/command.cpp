// `sightline train landmarks`: the trainer's options.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/fnv.hpp"
#include "base/log.hpp"
#include "faces/landmarks/training/trainer.hpp"
#include "training/file_image_set.hpp"
#include "training/standalone_trainer.hpp"

namespace sightline::landmarks {
namespace {

// Cost of training, in seconds of a typical core.
constexpr double kSampleCost = 1e-3, kSplitCost = 3e-9;

class LandmarkTrainer : public training::StandaloneTrainer {
 public:
  std::string name() const override { return "landmarks"; }
  std::string judging_command(const std::filesystem::path& model) const override {
    return "sightline evaluate landmarks PICTURES --faces FILE --model " + model.string();
  }
  std::string description() const override {
    return "Train a model of five face landmarks (eyes, nose, corners of the mouth) in a face detector's "
           "boxes";
  }
  OptionSet options() override;
  void check() override {
    if (options_.stages * options_.trees > kMaxTrees)
      throw Error(ExitCode::usage,
                  "--stages times --trees"_message + fmt::format(" must be at most {}", kMaxTrees));
  }
  void train(const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override;

 private:
  std::string signature(const std::vector<MarkedFace>& faces) const;

  std::string pictures_, faces_;
  std::string part_ = "train";
  int copies_ = 40;
  training::VariationBounds bounds_ = kVariation;
  TrainingOptions options_;
  std::string provenance_;
};

OptionSet LandmarkTrainer::options() {
  OptionSet options;
  options.add("pictures", &pictures_, "Folder of the pictures").require();
  options
      .add("--faces FILE", &faces_,
           "File of marked faces, with lines `picture part left top right bottom` and five points `x y`; "
           "boxes "
           "as found by the face detector")
      .require();
  options.add("--part PART", &part_, "Part of the list to train on").free_text().show_default();
  options.add("--copies N", &copies_, "Number of varied copies of each face").between(1, 1000).show_default();
  options.add("--shift RATIO", &bounds_.shift, "Maximum shift of a copy's box, relative to its side")
      .between(0, 0.3)
      .show_default();
  options.add("--zoom RATIO", &bounds_.zoom, "Maximum change of size of a copy's box, relative to its side")
      .between(0, 0.5)
      .show_default();
  options.add("--turn DEGREES", &bounds_.turn_z, "Maximum rotation of a copy, in degrees")
      .between(0, 45)
      .show_default();
  options.add("--stages N", &options_.stages, "Number of stages").between(1, kMaxStages).show_default();
  options.add("--trees N", &options_.trees, "Number of trees per stage").between(1, kMaxTrees).show_default();
  options.add("--depth N", &options_.depth, "Depth of each tree").between(1, kMaxDepth).show_default();
  options.add("--pixels N", &options_.pixels, "Number of pixels that a stage compares")
      .between(2, kMaxPixels)
      .show_default();
  options
      .add("--candidates N", &options_.candidates,
           "Number of random splits from which each node takes the best")
      .between(1, 10'000)
      .show_default();
  options
      .add("--shrinkage SHARE", &options_.shrinkage,
           "Share of the residual that a tree corrects; lower values need more trees")
      .between(0.001, 1)
      .show_default();
  options.add("--seed N", &options_.seed, "Seed of all random choices").show_default();
  options.add("--provenance NOTE", &provenance_, "Note on the data, stored in the model").free_text();
  return options;
}

std::string LandmarkTrainer::signature(const std::vector<MarkedFace>& faces) const {
  const TrainingOptions& o = options_;
  std::string text =
      fmt::format("landmarks {} {} {} {} {} {} {} {} {} {}; copies {} {} {} {}", o.stages, o.trees, o.depth,
                  o.pixels, o.candidates, o.split_samples, o.shrinkage, o.reach, o.pair_distance, o.seed,
                  copies_, bounds_.shift, bounds_.zoom, bounds_.turn_z);
  for (const MarkedFace& face : faces) {
    text += fmt::format("; {} {} {} {} {}", face.picture, face.box.x, face.box.y, face.box.width,
                        face.box.height);
    for (const Point& point : face.points) text += fmt::format(" {} {}", point.x, point.y);
  }
  return fmt::format("landmarks {:016x}", fnv1a(text.data(), text.size()));
}

void LandmarkTrainer::train(const std::filesystem::path& state, const std::filesystem::path& output,
                            const training::ReportProgress& report) {
  const std::vector<MarkedFace> faces = faces_of_part(load_marked_faces(faces_), part_, faces_);
  const training::FileImageSet pictures = pictures_of(faces, pictures_);
  logger().info("{} faces with {} copies each, seed {}", faces.size(), copies_, options_.seed);
  const training::TrainingState kept(state, signature(faces));
  const double samples = double{1} * copies_ * static_cast<double>(faces.size());
  const double splits = double{1} * options_.stages * options_.trees * options_.depth * options_.candidates *
                        std::min(samples, double{1} * options_.split_samples);
  training::ProgressClock clock(report, kSampleCost * samples + kSplitCost * splits);
  clock.enter("samples", kSampleCost * samples);
  const std::vector<Sample> made = make_samples(pictures, faces, copies_, bounds_, options_.seed, clock);
  clock.enter("trees", kSplitCost * splits);
  Model model = landmarks::train(made, options_, kept, clock);
  model.provenance = provenance_;
  save_model(model, output);
}

}  // namespace

std::unique_ptr<training::StandaloneTrainer> make_trainer() {
  return std::make_unique<LandmarkTrainer>();
}

}  // namespace sightline::landmarks
