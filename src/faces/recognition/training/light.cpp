#include "faces/recognition/training/light.hpp"

#include <algorithm>
#include <memory>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "faces/recognition/photos.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/training/regions.hpp"
#include "faces/recognition/training/relighting.hpp"
#include "faces/recognition/training/strangers.hpp"
#include "training/for_each_image.hpp"

namespace sightline::recognition {
namespace {

// Copies of each person for each position of the flash.
constexpr std::size_t kLitCopies = 2;
constexpr std::size_t kOfPerson = 2 * kLitCopies;
constexpr std::size_t kMostJudged = 400;  // people among whom strangers are looked for
constexpr double kLitCopyCost = 8e-3, kLitPairCost = 1e-5, kDistanceCost = 1e-4;

using Counts = std::vector<std::uint16_t>;

// Calls `take` with the person, the copy and its counts, of several people at once. In the first copies the
// flash is beside the camera.
template <typename Take>
void make_copies(const PeoplesPhotos& people, const training::ImageSet& pictures, std::uint64_t seed,
                 std::size_t beside, std::size_t copies, training::ProgressClock& clock,
                 const FaceModel& model, const Take& take) {
  struct Workspace {
    explicit Workspace(const FaceModel& model) : copier(model.geometry), describer(model) {}
    Relighter copier;
    PhotoDescriber describer;
  };
  constexpr FlashRig kRigs[] = {FlashRig::room, FlashRig::flash, FlashRig::noisy};
  training::for_each_image(
      people.photos.size(), clock, [&] { return std::make_unique<Workspace>(model); },
      [&](std::size_t i, Workspace& workspace) {
        const Image<std::uint8_t> photo = pictures.load(people.photos[i]);
        Random random(seed, i);
        const std::uint64_t person = random.bits();
        for (std::size_t copy = 0; copy < copies; ++copy) {
          const FlashPlace place = copy < beside ? FlashPlace::near_camera : FlashPlace::elsewhere;
          const FlashRig rig = kRigs[(i + copy) % std::size(kRigs)];
          take(i, copy,
               workspace.describer.counts(
                   workspace.copier.copy(photo.view(), people.points[i], rig, place, person, random)));
        }
      });
}

// Pairs of a copy lit from near the camera and one lit from elsewhere: of the same person, and of two people.
std::vector<PhotoPair> pairs_of_copies(std::size_t people, std::uint64_t seed) {
  Random random(seed, 1);
  std::vector<PhotoPair> pairs;
  for (std::size_t i = 0; i < people; ++i) {
    for (std::size_t near = 0; near < kLitCopies; ++near) {
      for (std::size_t far = kLitCopies; far < kOfPerson; ++far) {
        const std::size_t other = (i + 1 + random.below(people - 1)) % people;
        pairs.push_back({kOfPerson * i + near, kOfPerson * i + far, true});
        pairs.push_back({kOfPerson * i + near, kOfPerson * other + far, false});
      }
    }
  }
  return pairs;
}

std::vector<FalseMatchRate> judge_lit_strangers(const std::vector<Counts>& counts, const FaceModel& model) {
  PhotoDescriber describer(model);
  std::vector<std::vector<std::uint8_t>> near, far;
  for (std::size_t i = 0; i < counts.size() && near.size() < kMostJudged; i += kOfPerson) {
    near.push_back(describer.make_template(counts[i]));
    far.push_back(describer.make_template(counts[i + kLitCopies]));
  }
  const TemplateFormat format = template_format(model);
  const std::size_t people = near.size();
  std::vector<std::uint32_t> distances(people * (people - 1));
  parallel_for_isolated(people, [&](std::size_t i) {
    std::uint32_t* next = distances.data() + i * (people - 1);
    for (std::size_t j = 0; j < people; ++j) {
      if (j != i) *next++ = reference::distance(format, near[i], far[j]);
    }
  });
  return false_match_rates(std::move(distances));
}

double pairs_cost(std::size_t people) {
  return kLitPairCost * 2 * kLitCopies * kLitCopies * static_cast<double>(people);
}
double distances_cost(std::size_t people) {
  const auto judged = static_cast<double>(std::min(people, kMostJudged));
  return kDistanceCost * judged * judged;
}

}  // namespace

double cost_of_light(std::size_t people) {
  return kLitCopyCost * static_cast<double>(kOfPerson * people) + pairs_cost(people) + distances_cost(people);
}

void learn_light(const PeoplesPhotos& people, const training::ImageSet& pictures, std::uint64_t seed,
                 training::ProgressClock& clock, FaceModel& model) {
  const FaceDescriptor descriptor(model.channels);
  const std::size_t count = people.photos.size();
  model.region_weights.assign(static_cast<std::size_t>(descriptor.regions()), 1);
  clock.enter("photos", kLitCopyCost * static_cast<double>(kOfPerson * count));
  std::vector<Counts> counts(kOfPerson * count);
  make_copies(people, pictures, seed, kLitCopies, kOfPerson, clock, model,
              [&](std::size_t person, std::size_t copy, std::span<const std::uint16_t> found) {
                counts[kOfPerson * person + copy].assign(found.begin(), found.end());
              });
  clock.enter("regions", pairs_cost(count));
  model.region_weights = rank_regions(descriptor, counts, pairs_of_copies(count, seed));
  clock.enter("strangers", distances_cost(count));
  model.strangers = judge_lit_strangers(counts, model);
}

double cost_of_describing_in_light(std::size_t people) {
  return kLitCopyCost * static_cast<double>(kLightCopies * people);
}

Descriptions describe_in_light(const PeoplesPhotos& people, const training::ImageSet& pictures,
                               std::uint64_t seed, training::ProgressClock& clock, const FaceModel& model) {
  constexpr std::size_t kBeside = 4;
  Descriptions result;
  result.values = static_cast<std::size_t>(FaceDescriptor(model.channels).values());
  result.rows.resize(result.values * kLightCopies * people.photos.size());
  make_copies(people, pictures, seed, kBeside, kLightCopies, clock, model,
              [&](std::size_t person, std::size_t copy, std::span<const std::uint16_t> found) {
                std::uint8_t* row = result.rows.data() + (kLightCopies * person + copy) * result.values;
                for (const std::uint16_t value : found) *row++ = kRoots[value];
              });
  return result;
}

}  // namespace sightline::recognition
