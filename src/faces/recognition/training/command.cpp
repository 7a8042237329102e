// `sightline train recognition`: the trainer's options, and its steps.
#include <fmt/format.h>
#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/fnv.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/text_rows.hpp"
#include "faces/recognition/photos.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/training/axes.hpp"
#include "faces/recognition/training/channels.hpp"
#include "faces/recognition/training/discriminant.hpp"
#include "faces/recognition/training/lamp.hpp"
#include "faces/recognition/training/light.hpp"
#include "faces/recognition/training/regions.hpp"
#include "faces/recognition/training/strangers.hpp"
#include "faces/recognition/training/tight_crop.hpp"
#include "training/file_image_set.hpp"
#include "training/for_each_image.hpp"
#include "training/standalone_trainer.hpp"
#include "training/state.hpp"
#include "training/variation.hpp"

namespace sightline::recognition {
namespace {

// The light of copies: gradients of which the dark side is nearly black.
constexpr training::VariationBounds kRelit{
    .contrast = 0.6, .brightness = 20, .gamma = 0.8, .gradient = 1.9, .blur = 0, .noise = 3};

// Cost of training, in seconds of a typical core.
constexpr double kPhotoCost = 2e-3, kProductCost = 1e-10, kPairCost = 1e-5;
constexpr std::size_t kRegionPairs = 8000;  // pairs for the ranking of regions
constexpr std::uint32_t kPeopleParts = 5;   // cross-validation folds of the people
constexpr std::size_t kMostStrangers = 1000;

// Copies of each photo.
struct Copies {
  int relit = 1;
  int under_lamps = 0;
  int all() const { return relit + under_lamps; }
};

struct Photos {
  std::vector<std::string> names;
  std::vector<FacePoints> points;
  std::vector<std::uint32_t> people;  ///< person's number, by photo
};

class RecognitionTrainer : public training::StandaloneTrainer {
 public:
  std::string name() const override { return "recognition"; }
  std::string judging_command(const std::filesystem::path& model) const override {
    return "sightline evaluate verify PHOTOS --pairs FILE --model " + model.string();
  }
  std::string description() const override {
    return "Train a face recognition model, from several photos each of many people";
  }
  OptionSet options() override;
  void check() override {
    if (discriminant_.dims > axes_)
      throw Error(ExitCode::usage, "--dims must be at most --axes"_message,
                  "give fewer dimensions, or more axes");
    if (discriminant_.dims % 32 != 0)
      throw Error(ExitCode::usage, "--dims is not a multiple of 32"_message, "give 128, 256, ...");
  }
  bool keeps_steps() const override { return is_learned(); }
  void train(const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override;

 private:
  Photos load_photos() const;
  std::string signature(const Photos& photos) const;
  bool is_learned() const { return kind_ == "learned" || kind_ == "learned-light"; }
  bool is_for_light() const { return kind_ == "light" || kind_ == "learned-light"; }
  std::vector<std::uint32_t> people_of_rows(const Photos& photos, const PeoplesPhotos& firsts) const;
  double describing_cost(const Photos& photos, const PeoplesPhotos& firsts) const;
  void train_projection(const Photos& photos, const PeoplesPhotos& firsts, const training::ImageSet& pictures,
                        const training::TrainingState& state, training::ProgressClock& clock,
                        FaceModel& model) const;
  void train_regions(const Photos& photos, const training::ImageSet& pictures, training::ProgressClock& clock,
                     FaceModel& model) const;

  std::string photos_, people_, landmarks_;
  std::string kind_ = "learned";
  int axes_ = 400;
  Copies copies_;
  DiscriminantOptions discriminant_;
  std::uint64_t seed_ = 1;
  std::string provenance_;
};

OptionSet RecognitionTrainer::options() {
  OptionSet options;
  options.add("photos", &photos_, "Folder of the photos, named PERSON_NUMBER").require();
  options
      .add("--landmarks FILE", &landmarks_,
           "File of the faces' points, with lines `photo` and five points `x y`: left eye in the picture, "
           "right eye, "
           "nose, corners of the mouth")
      .require();
  options.add("--people FILE", &people_,
              "File of people to train on, one name per line (default: all people with points)");
  options
      .add("--kind KIND", &kind_,
           "Kind of model: `learned` (projection), `weighted` (weights of face regions), `plain` (only the "
           "false-match rates), `light` (weights of regions for hard light), `learned-light` (projection for "
           "hard light and fixed cameras, keeps the sides of a face apart)")
      .one_of({"learned", "weighted", "plain", "light", "learned-light"})
      .show_default();
  options.add("--axes N", &axes_, "Number of principal axes to keep").between(32, 4096).show_default();
  options.add("--dims BYTES", &discriminant_.dims, "Size of a template in bytes, a multiple of 32")
      .between(32, kMostTemplateDims)
      .show_default();
  options
      .add("--shrinkage SHARE", &discriminant_.shrinkage,
           "Shrinkage of the within-person scatter towards equal variance in all directions")
      .between(0, 1)
      .show_default();
  options
      .add("--emphasis FACTOR", &discriminant_.emphasis,
           "Extra weight of the dimensions in which people differ most; 0: all equal")
      .between(0, 2)
      .show_default();
  options
      .add("--length N", &discriminant_.length,
           "Length of a template's vector, before values are clipped to 127")
      .between(64, kLongestTemplate)
      .show_default();
  options.add("--copies N", &copies_.relit, "Number of copies of each photo in other light")
      .between(0, 16)
      .show_default();
  options
      .add("--lamp-copies N", &copies_.under_lamps,
           "Number of further copies, each lit by one lamp with cast shadows, every other one cropped "
           "tightly: "
           "better in hard light, slightly worse in even light")
      .between(0, 16)
      .show_default();
  options.add("--seed N", &seed_, "Seed of all random choices").show_default();
  options.add("--provenance NOTE", &provenance_, "Note on the data, stored in the model").free_text();
  return options;
}

Photos RecognitionTrainer::load_photos() const {
  const PointsOfPhotos all = load_face_points(landmarks_);
  std::set<std::string, std::less<>> chosen;
  if (!people_.empty())
    text_rows::for_each_row(people_, "people",
                            [&](std::string_view name, const text_rows::Row&) { chosen.emplace(name); });
  std::map<std::string, std::uint32_t> numbers;
  Photos photos;
  for (const auto& [name, points] : all) {
    const std::string person = person_of(name);
    if (!people_.empty() && !chosen.contains(person)) continue;
    photos.names.push_back(name);
    photos.points.push_back(points);
    photos.people.push_back(
        numbers.try_emplace(person, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  if (numbers.size() < 2 || numbers.size() == photos.names.size()) {
    throw Error(
        ExitCode::input,
        fmt::format("{} photos of {} people are too few to train on", photos.names.size(), numbers.size()),
        "give several photos each of many people, named PERSON_NUMBER, and points of all of them");
  }
  logger().info("{} photos of {} people, seed {}", photos.names.size(), numbers.size(), seed_);
  return photos;
}

// Text of everything that the finished steps depend on.
std::string RecognitionTrainer::signature(const Photos& photos) const {
  std::string text = fmt::format("recognition {} {} {}", axes_, copies_.relit, seed_);
  if (is_for_light()) text += " light";
  if (copies_.under_lamps > 0) text += fmt::format(" lamps {}", copies_.under_lamps);
  for (std::size_t i = 0; i < photos.names.size(); ++i) {
    text += "; " + photos.names[i];
    for (const Point& point : photos.points[i]) text += fmt::format(" {} {}", point.x, point.y);
  }
  return fmt::format("recognition {:016x}", fnv1a(text.data(), text.size()));
}

// Roots of the counts of all photos, followed by those of their copies.
Descriptions describe_photos(const FaceModel& model, const Photos& photos, const training::ImageSet& pictures,
                             Copies copies, std::uint64_t seed, training::ProgressClock& clock) {
  Descriptions result;
  result.values = static_cast<std::size_t>(FaceDescriptor(model.channels).values());
  const std::size_t count = photos.names.size();
  result.rows.resize(result.values * count * static_cast<std::size_t>(1 + copies.all()));
  training::for_each_image(
      count, clock, [&] { return std::make_unique<PhotoDescriber>(model); },
      [&](std::size_t i, PhotoDescriber& describer) {
        const Image<std::uint8_t> photo = pictures.load(i);
        Random random(seed, i);
        for (std::size_t copy = 0; copy <= static_cast<std::size_t>(copies.all()); ++copy) {
          const ImageView<std::uint8_t> crop = describer.crop(photo.view(), photos.points[i]);
          if (copy > static_cast<std::size_t>(copies.relit)) {
            light_by_lamp(crop, draw_lamp_scene(random), random);
            if (random.below(2) == 0) crop_tightly(crop, draw_tight_crop(random));
          } else if (copy > 0) {
            const training::Variation light = training::draw_variation(kRelit, random);
            training::relight(crop, light, {kCropSize.width / 2.0, kCropSize.height / 2.0}, kCropSize.height);
            training::add_noise(crop, light.noise, random);
          }
          std::uint8_t* row = result.rows.data() + (copy * count + i) * result.values;
          for (const std::uint16_t value : describer.counts(crop)) *row++ = kRoots[value];
        }
      });
  return result;
}

PrincipalAxes read_axes(const Safetensors& file, std::size_t values, std::size_t rows, std::size_t axes) {
  const auto v = static_cast<std::int64_t>(values), n = static_cast<std::int64_t>(rows),
             k = static_cast<std::int64_t>(axes);
  PrincipalAxes result;
  const auto copy = [](auto from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(file.array<double>("mean", {v}), result.mean);
  copy(file.array<float>("axes", {k, v}), result.axes);
  copy(file.array<float>("parts", {n, k}), result.parts);
  return result;
}

Safetensors container_of(const PrincipalAxes& axes) {
  const auto values = static_cast<std::int64_t>(axes.mean.size());
  const auto count = static_cast<std::int64_t>(axes.axes.size()) / values;
  Safetensors file;
  file.set<double>("mean", {values}, axes.mean);
  file.set<float>("axes", {count, values}, axes.axes);
  file.set<float>("parts", {static_cast<std::int64_t>(axes.parts.size()) / count, count}, axes.parts);
  return file;
}

std::uint32_t squared_distance(const std::vector<std::int8_t>& a, const std::vector<std::int8_t>& b) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return static_cast<std::uint32_t>(sum);
}

// Distances of all pairs of templates of different people.
template <typename Template, typename Distance>
void add_distances(const std::vector<Template>& templates, const std::vector<std::uint32_t>& people,
                   const Distance& distance, std::vector<std::uint32_t>& distances) {
  std::vector<std::vector<std::uint32_t>> of_each(templates.size());
  parallel_for_isolated(templates.size(), [&](std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (people[i] != people[j]) of_each[i].push_back(distance(templates[i], templates[j]));
    }
  });
  for (const auto& some : of_each) distances.insert(distances.end(), some.begin(), some.end());
}

// Cross-validation on people: each fold is judged by a projection learned from the others.
std::vector<FalseMatchRate> judge_strangers(const PrincipalAxes& axes, std::size_t count,
                                            const std::vector<std::uint32_t>& people, std::size_t photos,
                                            const DiscriminantOptions& options) {
  std::vector<std::uint32_t> distances;
  for (std::uint32_t part = 0; part < kPeopleParts; ++part) {
    std::vector<bool> is_used(people.size());
    for (std::size_t i = 0; i < people.size(); ++i) is_used[i] = people[i] % kPeopleParts != part;
    const Discriminant directions = find_discriminant(axes.parts, count, people, is_used, options);
    std::vector<std::vector<std::int8_t>> templates;
    std::vector<std::uint32_t> own;
    for (std::size_t i = 0; i < photos; ++i) {
      if (is_used[i]) continue;
      templates.push_back(template_of_row(directions, axes.parts.data() + i * count, options.length));
      own.push_back(people[i]);
    }
    add_distances(templates, own, squared_distance, distances);
  }
  return false_match_rates(std::move(distances));
}

// The first photo of each person.
PeoplesPhotos first_photos(const Photos& photos) {
  PeoplesPhotos result;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < photos.names.size(); ++i) {
    if (!seen.insert(photos.people[i]).second) continue;
    result.photos.push_back(i);
    result.points.push_back(photos.points[i]);
  }
  return result;
}

// Person of each row of descriptions.
std::vector<std::uint32_t> RecognitionTrainer::people_of_rows(const Photos& photos,
                                                              const PeoplesPhotos& firsts) const {
  std::vector<std::uint32_t> people;
  if (is_for_light()) {
    for (const std::size_t photo : firsts.photos)
      people.insert(people.end(), kLightCopies, photos.people[photo]);
    return people;
  }
  for (int copy = 0; copy <= copies_.all(); ++copy)
    people.insert(people.end(), photos.people.begin(), photos.people.end());
  return people;
}

double RecognitionTrainer::describing_cost(const Photos& photos, const PeoplesPhotos& firsts) const {
  if (is_for_light()) return cost_of_describing_in_light(firsts.photos.size());
  return kPhotoCost * static_cast<double>(photos.names.size()) * (1 + copies_.all());
}

void RecognitionTrainer::train_projection(const Photos& photos, const PeoplesPhotos& firsts,
                                          const training::ImageSet& pictures,
                                          const training::TrainingState& state,
                                          training::ProgressClock& clock, FaceModel& model) const {
  const std::vector<std::uint32_t> people = people_of_rows(photos, firsts);
  const std::size_t rows = people.size();
  const auto values = static_cast<std::size_t>(FaceDescriptor(model.channels).values());
  const auto wanted = std::min({static_cast<std::size_t>(axes_), values, rows - 1});
  const double products = 2 * kProductCost * static_cast<double>(values * rows) * axes_ * 5;
  const double described = describing_cost(photos, firsts);
  std::optional<PrincipalAxes> axes =
      state.load("axes", [&](const Safetensors& file) { return read_axes(file, values, rows, wanted); });
  if (axes) {
    clock.skip(described + products);
  } else {
    clock.enter("photos", described);
    const Descriptions descriptions = is_for_light()
                                          ? describe_in_light(firsts, pictures, seed_, clock, model)
                                          : describe_photos(model, photos, pictures, copies_, seed_, clock);
    clock.enter("axes", products);
    axes = principal_axes(descriptions, wanted, seed_, clock);
    state.save("axes", container_of(*axes));
  }
  clock.enter("directions", kPhotoCost * static_cast<double>(rows));
  const Discriminant directions =
      find_discriminant(axes->parts, wanted, people, std::vector<bool>(people.size(), true), discriminant_);
  clock.check(0.2);
  model.projection = make_projection(*axes, directions, discriminant_.length);
  // In even light of the photos themselves, which are the first rows.
  const std::size_t judged = is_for_light() ? rows : photos.names.size();
  model.strangers = judge_strangers(*axes, wanted, people, judged, discriminant_);
}

void RecognitionTrainer::train_regions(const Photos& photos, const training::ImageSet& pictures,
                                       training::ProgressClock& clock, FaceModel& model) const {
  const FaceDescriptor descriptor(model.channels);
  model.region_weights.assign(static_cast<std::size_t>(descriptor.regions()), 1);
  clock.enter("photos", kPhotoCost * static_cast<double>(photos.names.size()));
  std::vector<std::vector<std::uint16_t>> counts(photos.names.size());
  training::for_each_image(
      photos.names.size(), clock, [&] { return std::make_unique<PhotoDescriber>(model); },
      [&](std::size_t i, PhotoDescriber& describer) {
        const Image<std::uint8_t> photo = pictures.load(i);
        const auto found = describer.counts(describer.crop(photo.view(), photos.points[i]));
        counts[i].assign(found.begin(), found.end());
      });
  clock.enter("regions", kPairCost * static_cast<double>(kRegionPairs));
  if (kind_ == "weighted")
    model.region_weights = rank_regions(descriptor, counts, draw_pairs(photos.people, kRegionPairs, seed_));
  // The first photo of each.
  PhotoDescriber describer(model);
  std::vector<std::vector<std::uint8_t>> templates;
  std::vector<std::uint32_t> people;
  for (std::size_t i = 0; i < counts.size() && templates.size() < kMostStrangers; ++i) {
    if (std::ranges::find(people, photos.people[i]) != people.end()) continue;
    templates.push_back(describer.make_template(counts[i]));
    people.push_back(photos.people[i]);
  }
  const TemplateFormat format = template_format(model);
  std::vector<std::uint32_t> distances;
  add_distances(
      templates, people, [&](const auto& a, const auto& b) { return reference::distance(format, a, b); },
      distances);
  model.strangers = false_match_rates(std::move(distances));
}

void RecognitionTrainer::train(const std::filesystem::path& state, const std::filesystem::path& output,
                               const training::ReportProgress& report) {
  const Photos photos = load_photos();
  const training::FileImageSet pictures = training::pictures_named(photos.names, photos_);
  const PeoplesPhotos firsts = first_photos(photos);
  FaceModel model;
  model.provenance = provenance_;
  if (is_for_light()) {
    model.geometry = kLightGeometry;
    model.channels = light_channels();
  } else {
    model.channels = is_learned() ? learned_channels() : plain_channels();
  }
  if (is_learned()) {
    const training::TrainingState kept(state, signature(photos));
    const double values = FaceDescriptor(model.channels).values();
    const auto rows = static_cast<double>(people_of_rows(photos, firsts).size());
    training::ProgressClock clock(report, describing_cost(photos, firsts) + kPhotoCost * rows +
                                              10 * kProductCost * values * rows * axes_);
    train_projection(photos, firsts, pictures, kept, clock, model);
  } else if (kind_ == "light") {
    training::ProgressClock clock(report, cost_of_light(firsts.photos.size()));
    learn_light(firsts, pictures, seed_, clock, model);
  } else {
    training::ProgressClock clock(report, kPhotoCost * static_cast<double>(photos.names.size()) +
                                              kPairCost * static_cast<double>(kRegionPairs));
    train_regions(photos, pictures, clock, model);
  }
  save_face_model(model, output);
}

}  // namespace

std::unique_ptr<training::StandaloneTrainer> make_trainer() {
  return std::make_unique<RecognitionTrainer>();
}

}  // namespace sightline::recognition
