// Spherical k-medoids with absolute cosine similarity on 3x3 patches.

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "filterbank/random.hpp"
#include "filterbank/training.hpp"

namespace sightline::filterbank {
namespace {

float similarity(const FloatFilter& a, const FloatFilter& b) {
  float sum = 0;
  for (int i = 0; i < kTaps; ++i) sum += a[i] * b[i];
  return std::fabs(sum);
}

template <typename Work>
void parallel_chunks(std::size_t count, const Work& work) {
  constexpr std::size_t kChunk = 4096;
  parallel_for_isolated((count + kChunk - 1) / kChunk,
                        [&](std::size_t c) { work(c * kChunk, std::min(count, (c + 1) * kChunk)); });
}

// k-means++ on the dissimilarity 1 - |cos|: the next medoid is drawn with probability proportional to its
// square.
std::vector<FloatFilter> initial_medoids(const std::vector<FloatFilter>& patches, int count, Random& random) {
  std::vector<FloatFilter> medoids{patches[random.below(patches.size())]};
  std::vector<float> nearest(patches.size(), 0.0F);
  while (static_cast<int>(medoids.size()) < count) {
    const FloatFilter& latest = medoids.back();
    parallel_chunks(patches.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        nearest[i] = std::max(nearest[i], similarity(patches[i], latest));
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

// The member with the largest summed similarity to all members. Of a large cluster, a sample stands for all:
// the sum over 2,000 members ranks candidates as the sum over 10,000 does.
FloatFilter best_medoid(const std::vector<FloatFilter>& patches, std::vector<std::uint32_t> members,
                        Random& random) {
  constexpr std::size_t kSample = 2000;
  if (members.size() > kSample) {
    for (std::size_t i = 0; i < kSample; ++i)
      std::swap(members[i], members[i + random.below(members.size() - i)]);
    members.resize(kSample);
  }
  double best = -1;
  std::uint32_t best_member = members.front();
  for (const std::uint32_t candidate : members) {
    double sum = 0;
    for (const std::uint32_t other : members) sum += similarity(patches[candidate], patches[other]);
    if (sum > best || (sum == best && candidate < best_member)) {
      best = sum;
      best_member = candidate;
    }
  }
  return patches[best_member];
}

}  // namespace

std::vector<FloatFilter> sample_patches(const std::vector<const ImageSet*>& sets, int count,
                                        std::uint64_t seed, const std::function<bool(double)>& progress) {
  std::size_t images = 0;
  for (const ImageSet* set : sets) images += set->size();
  if (images == 0) throw Error(ExitCode::input, "there are no pictures to learn a dictionary from");
  std::vector<FloatFilter> patches;
  patches.reserve(count);
  std::size_t done = 0;
  for (const ImageSet* set : sets) {
    for (std::size_t i = 0; i < set->size(); ++i, ++done) {
      if (!progress(static_cast<double>(done) / static_cast<double>(images))) throw TrainingStopped();
      const auto wanted = (static_cast<std::size_t>(count) * (done + 1)) / images;
      const Image<std::uint8_t> image = set->load(i);
      if (image.width() < 3 || image.height() < 3) continue;
      Random random(seed, done);
      // Rejection sampling; a picture without contrast ends after a bounded number of tries.
      for (std::size_t tries = 200 * (wanted - patches.size()); patches.size() < wanted && tries > 0;
           --tries) {
        const int x = static_cast<int>(random.below(image.width() - 2));
        const int y = static_cast<int>(random.below(image.height() - 2));
        FloatFilter patch;
        float mean = 0;
        for (int t = 0; t < kTaps; ++t) mean += patch[t] = image.view().at(x + t % 3, y + t / 3);
        mean /= kTaps;
        float energy = 0;
        for (float& p : patch) {
          p -= mean;
          energy += p * p;
        }
        const float contrast = std::sqrt(energy);
        constexpr float kLargestContrast =
            361.0F;  // 4 or 5 of nine pixels black, the others white: 127.5 * sqrt(8)
        if (contrast < 1.0F || random.unit() * kLargestContrast > contrast) continue;
        for (float& p : patch) p /= contrast;
        patches.push_back(patch);
      }
    }
  }
  return patches;
}

std::vector<FloatFilter> learn_dictionary(const std::vector<FloatFilter>& patches, int count, int rounds,
                                          std::uint64_t seed, const std::function<bool(double)>& progress) {
  if (static_cast<int>(patches.size()) < count) {
    throw Error(ExitCode::input,
                "only " + std::to_string(patches.size()) + " patches with contrast were found for " +
                    std::to_string(count) + " filters",
                "give more or larger pictures, or fewer filters");
  }
  Random random(seed, 0xD1C7);
  std::vector<FloatFilter> medoids = initial_medoids(patches, count, random);
  std::vector<std::uint8_t> assignment(patches.size());
  for (int round = 0; round < rounds; ++round) {
    if (!progress(static_cast<double>(round) / rounds)) throw TrainingStopped();
    parallel_chunks(patches.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        float best = -1;
        for (int k = 0; k < count; ++k) {
          const float s = similarity(patches[i], medoids[k]);
          if (s > best) {
            best = s;
            assignment[i] = static_cast<std::uint8_t>(k);
          }
        }
      }
    });
    std::vector<std::vector<std::uint32_t>> members(count);
    for (std::size_t i = 0; i < patches.size(); ++i)
      members[assignment[i]].push_back(static_cast<std::uint32_t>(i));
    std::vector<FloatFilter> next = medoids;
    parallel_for_isolated(count, [&](int k) {
      Random own(seed, (static_cast<std::uint64_t>(round) + 1) << 16 | k);
      if (!members[k].empty()) next[k] = best_medoid(patches, std::move(members[k]), own);
    });
    if (next == medoids) break;
    medoids = std::move(next);
  }
  return medoids;
}

std::vector<FloatFilter> order_filters(const std::vector<FloatFilter>& filters,
                                       const std::vector<FloatFilter>& patches) {
  constexpr std::size_t kSample = 20'000;
  const std::size_t count = std::min(patches.size(), kSample);
  // Patches come picture by picture: even steps visit all pictures.
  const auto patch = [&](std::size_t i) -> const FloatFilter& { return patches[i * patches.size() / count]; };
  std::vector<float> nearest(count, 0.0F);  // a patch's largest similarity to the filters chosen so far
  std::vector<FloatFilter> left = filters;
  std::vector<FloatFilter> ordered;
  while (!left.empty()) {
    std::vector<double> gain(left.size(), 0.0);
    parallel_for_isolated(left.size(), [&](std::size_t k) {
      for (std::size_t i = 0; i < count; ++i) gain[k] += std::max(nearest[i], similarity(patch(i), left[k]));
    });
    const auto best = std::max_element(gain.begin(), gain.end()) - gain.begin();
    ordered.push_back(left[best]);
    left.erase(left.begin() + best);
    for (std::size_t i = 0; i < count; ++i)
      nearest[i] = std::max(nearest[i], similarity(patch(i), ordered.back()));
  }
  return ordered;
}

}  // namespace sightline::filterbank
