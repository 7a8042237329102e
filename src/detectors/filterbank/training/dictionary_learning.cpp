// Spherical k-medoids with cosine similarity, of magnitude or value, on patches of 3x3 or 5x5.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "detectors/filterbank/training/training.hpp"

namespace sightline::filterbank {

using training::ImageSet;
using training::TrainingStopped;
namespace {

template <typename Patch>
float similarity(const Patch& a, const Patch& b, Similarity kind) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return kind == Similarity::magnitude ? std::fabs(sum) : sum;
}

// Patches side by side, so that the compiler compares one patch with several at once. Each sum is formed in
// the order of `similarity`.
template <typename Patch>
class PatchTable {
 public:
  template <typename Source>
  PatchTable(std::size_t count, const Source& patch)
      : count_(count), values_(count * std::tuple_size_v<Patch>) {
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t i = 0; i < std::tuple_size_v<Patch>; ++i) values_[i * count + n] = patch(n)[i];
    }
  }

  // Similarities of the patch to each one of the table.
  void similarities(const Patch& patch, Similarity kind, float* out) const {
    std::fill_n(out, count_, 0.0F);
    for (std::size_t i = 0; i < patch.size(); ++i) {
      const float* const column = values_.data() + i * count_;
      for (std::size_t n = 0; n < count_; ++n) out[n] += patch[i] * column[n];
    }
    if (kind == Similarity::value) return;
    for (std::size_t n = 0; n < count_; ++n) out[n] = std::fabs(out[n]);
  }

 private:
  std::size_t count_;
  std::vector<float> values_;
};

template <typename Work>
void parallel_chunks(std::size_t count, const Work& work) {
  constexpr std::size_t kChunk = 4096;
  parallel_for_isolated((count + kChunk - 1) / kChunk,
                        [&](std::size_t c) { work(c * kChunk, std::min(count, (c + 1) * kChunk)); });
}

// k-means++ on the dissimilarity 1 - similarity: the next medoid is drawn with probability proportional to
// its square.
template <typename Patch>
std::vector<Patch> initial_medoids(const std::vector<Patch>& patches, int count, Similarity kind,
                                   Random& random) {
  std::vector<Patch> medoids{patches[random.below(patches.size())]};
  std::vector<float> nearest(patches.size(), 0.0F);
  while (static_cast<int>(medoids.size()) < count) {
    const Patch& latest = medoids.back();
    parallel_chunks(patches.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        nearest[i] = std::max(nearest[i], similarity(patches[i], latest, kind));
    });
    double total = 0;
    for (const float s : nearest) total += (1.0 - s) * (1.0 - s);
    double target = random.unit() * total;
    std::size_t chosen = patches.size() - 1;
    for (std::size_t i = 0; i < patches.size(); ++i) {
      target -= (1.0 - nearest[i]) * (1.0 - nearest[i]);
      if (target < 0) {
        chosen = i;
        break;
      }
    }
    medoids.push_back(patches[chosen]);
  }
  return medoids;
}

// The member with the largest summed similarity to all members. A large cluster is represented by a sample:
// the sum over 2,000 members ranks candidates as the sum over 10,000 does.
template <typename Patch>
Patch best_medoid(const std::vector<Patch>& patches, std::vector<std::uint32_t> members, Similarity kind,
                  Random& random) {
  constexpr std::size_t kSample = 2000;
  if (members.size() > kSample) {
    for (std::size_t i = 0; i < kSample; ++i)
      std::swap(members[i], members[i + random.below(members.size() - i)]);
    members.resize(kSample);
  }
  const PatchTable<Patch> table(members.size(), [&](std::size_t n) { return patches[members[n]]; });
  std::vector<float> similarities(members.size());
  double best = -std::numeric_limits<double>::infinity();
  std::uint32_t best_member = members.front();
  for (const std::uint32_t candidate : members) {
    table.similarities(patches[candidate], kind, similarities.data());
    double sum = 0;
    for (const float s : similarities) sum += s;
    if (sum > best || (sum == best && candidate < best_member)) {
      best = sum;
      best_member = candidate;
    }
  }
  return patches[best_member];
}

// Contrast of half black and half white pixels: 4 or 5 of nine, 12 or 13 of 25. Patches with more contrast
// are all taken.
template <typename Patch>
constexpr float kLargestContrast = 0;
template <>
constexpr float kLargestContrast<FloatFilter> = 361.0F;
template <>
constexpr float kLargestContrast<LargeFilter> = 637.0F;

// Removes the mean, and returns the length of the result.
template <typename Patch>
float remove_mean(Patch& patch) {
  float mean = 0;
  for (const float p : patch) mean += p;
  mean /= static_cast<float>(patch.size());
  float energy = 0;
  for (float& p : patch) {
    p -= mean;
    energy += p * p;
  }
  return std::sqrt(energy);
}

}  // namespace

template <typename Patch>
std::vector<Patch> sample_patches(const ImageSet& images, int count, PatchSampling sampling,
                                  std::uint64_t seed, const std::function<bool(double)>& progress) {
  constexpr int kSide = std::tuple_size_v<Patch> == 9 ? 3 : 5;
  if (images.size() == 0) throw Error(ExitCode::input, "no pictures to learn a dictionary from");
  std::vector<Patch> patches;
  patches.reserve(count);
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!progress(static_cast<double>(i) / static_cast<double>(images.size()))) throw TrainingStopped();
    const auto wanted = (static_cast<std::size_t>(count) * (i + 1)) / images.size();
    const Image<std::uint8_t> image = images.load(i);
    if (image.width() < kSide || image.height() < kSide) continue;
    Random random(seed, i);
    // Rejection sampling; a picture without contrast ends after a bounded number of tries.
    for (std::size_t tries = 200 * (wanted - patches.size()); patches.size() < wanted && tries > 0; --tries) {
      const int x = static_cast<int>(random.below(image.width() - kSide + 1));
      const int y = static_cast<int>(random.below(image.height() - kSide + 1));
      Patch patch;
      for (int t = 0; t < kSide * kSide; ++t) patch[t] = image.view().at(x + t % kSide, y + t / kSide);
      const float contrast = remove_mean(patch);
      if (contrast < 1.0F) continue;
      if (sampling == PatchSampling::contrast &&
          random.unit() * double{kLargestContrast<Patch>} > double{contrast})
        continue;
      for (float& p : patch) p /= contrast;
      patches.push_back(patch);
    }
  }
  return patches;
}

template <typename Patch>
std::vector<Patch> learn_dictionary(const std::vector<Patch>& patches, int count, int rounds,
                                    std::uint64_t seed, const std::function<bool(double)>& progress,
                                    Similarity kind) {
  if (static_cast<int>(patches.size()) < count) {
    throw Error(ExitCode::input,
                "only " + std::to_string(patches.size()) + " patches with contrast were found for " +
                    std::to_string(count) + " filters",
                "give more or larger pictures, or fewer filters");
  }
  Random random(seed, 0xD1C7);
  std::vector<Patch> medoids = initial_medoids(patches, count, kind, random);
  std::vector<std::uint8_t> assignment(patches.size());
  for (int round = 0; round < rounds; ++round) {
    if (!progress(static_cast<double>(round) / rounds)) throw TrainingStopped();
    const PatchTable<Patch> table(count, [&](std::size_t k) { return medoids[k]; });
    parallel_chunks(patches.size(), [&](std::size_t begin, std::size_t end) {
      std::vector<float> similarities(count);
      for (std::size_t i = begin; i < end; ++i) {
        table.similarities(patches[i], kind, similarities.data());
        const auto best = std::max_element(similarities.begin(), similarities.end());  // the first of equals
        assignment[i] = static_cast<std::uint8_t>(best - similarities.begin());
      }
    });
    std::vector<std::vector<std::uint32_t>> members(count);
    for (std::size_t i = 0; i < patches.size(); ++i)
      members[assignment[i]].push_back(static_cast<std::uint32_t>(i));
    std::vector<Patch> next = medoids;
    parallel_for_isolated(count, [&](int k) {
      Random own(seed, (static_cast<std::uint64_t>(round) + 1) << 16 | k);
      if (!members[k].empty()) next[k] = best_medoid(patches, std::move(members[k]), kind, own);
    });
    if (next == medoids) break;
    medoids = std::move(next);
  }
  return medoids;
}

template <typename Patch>
std::vector<Patch> order_filters(const std::vector<Patch>& filters, const std::vector<Patch>& patches,
                                 Similarity kind) {
  constexpr std::size_t kSample = 20'000;
  const std::size_t count = std::min(patches.size(), kSample);
  // Patches come picture by picture: even steps visit all pictures.
  const auto patch = [&](std::size_t i) -> const Patch& { return patches[i * patches.size() / count]; };
  std::vector<float> nearest(count, 0.0F);  // a patch's largest similarity to the filters chosen so far
  std::vector<Patch> left = filters;
  std::vector<Patch> ordered;
  while (!left.empty()) {
    std::vector<double> gain(left.size(), 0.0);
    parallel_for_isolated(left.size(), [&](std::size_t k) {
      for (std::size_t i = 0; i < count; ++i)
        gain[k] += std::max(nearest[i], similarity(patch(i), left[k], kind));
    });
    const auto best = std::max_element(gain.begin(), gain.end()) - gain.begin();
    ordered.push_back(left[best]);
    left.erase(left.begin() + best);
    for (std::size_t i = 0; i < count; ++i)
      nearest[i] = std::max(nearest[i], similarity(patch(i), ordered.back(), kind));
  }
  return ordered;
}

#define SIGHTLINE_INSTANTIATE(Patch)                                                               \
  template std::vector<Patch> learn_dictionary(const std::vector<Patch>&, int, int, std::uint64_t, \
                                               const std::function<bool(double)>&, Similarity);    \
  template std::vector<Patch> order_filters(const std::vector<Patch>&, const std::vector<Patch>&,  \
                                            Similarity);                                           \
  template std::vector<Patch> sample_patches(const ImageSet&, int, PatchSampling, std::uint64_t,   \
                                             const std::function<bool(double)>&)
SIGHTLINE_INSTANTIATE(FloatFilter);
SIGHTLINE_INSTANTIATE(LargeFilter);
#undef SIGHTLINE_INSTANTIATE

}  // namespace sightline::filterbank
