#include "faces/landmarks/training/tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace sightline::landmarks {
namespace {

constexpr std::size_t kPiece = 1024;  // samples that a thread takes at a time
constexpr std::size_t kLanes = std::tuple_size_v<Residual>;

// Samples on one side of a split: how many, and what their residuals add up to.
struct Side {
  std::array<std::int64_t, kLanes> sums{};
  std::int64_t count = 0;

  Side& operator+=(const Side& other) {
    for (std::size_t i = 0; i < kLanes; ++i) sums[i] += other.sums[i];
    count += other.count;
    return *this;
  }
  Side operator-(const Side& other) const {
    Side result = *this;
    for (std::size_t i = 0; i < kLanes; ++i) result.sums[i] -= other.sums[i];
    result.count -= other.count;
    return result;
  }
  // Reduction of the squared residuals by a constant.
  double gain() const {
    double squares = 0;
    for (std::size_t i = 0; i < kCoordinates; ++i)
      squares += static_cast<double>(sums[i]) * static_cast<double>(sums[i]);
    return count == 0 ? 0 : squares / static_cast<double>(count);
  }
};

bool goes_right(const Split& split, const PixelRow& pixels) {
  return pixels[split.first] - pixels[split.second] > split.threshold;
}

// Adds the samples of a piece that each split sends to the right. Sums of a piece have 26 bits.
void add_piece(const std::vector<PixelRow>& rows, const std::vector<Residual>& residuals,
               const std::uint32_t* samples, std::size_t count, const std::vector<Split>& splits,
               std::vector<Side>& sides) {
  struct Sums {
    alignas(64) std::array<std::int32_t, kLanes> values{};
    std::int32_t count = 0;
  };
  std::vector<Sums> sums(splits.size());
  for (std::size_t k = 0; k < count; ++k) {
    const PixelRow& row = rows[samples[k]];
    const Residual& residual = residuals[samples[k]];
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const std::int32_t taken = goes_right(splits[i], row) ? 1 : 0;
      const auto mask = static_cast<std::int16_t>(-taken);
      Sums& sum = sums[i];
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sum.values[lane] += static_cast<std::int16_t>(residual[lane] & mask);
      sum.count += taken;
    }
  }
  sides.resize(splits.size());
  for (std::size_t i = 0; i < splits.size(); ++i) {
    std::copy(sums[i].values.begin(), sums[i].values.end(), sides[i].sums.begin());
    sides[i].count = sums[i].count;
  }
}

// The split of some that leaves least.
Split best_split(const std::vector<PixelRow>& rows, const std::vector<Residual>& residuals,
                 const std::vector<std::uint32_t>& samples, const std::vector<Split>& splits) {
  const std::size_t pieces = (samples.size() + kPiece - 1) / kPiece;
  std::vector<std::vector<Side>> parts(pieces);
  std::vector<Side> wholes(pieces);
  parallel_for_isolated(pieces, [&](std::size_t piece) {
    const std::size_t begin = piece * kPiece, count = std::min(kPiece, samples.size() - begin);
    add_piece(rows, residuals, samples.data() + begin, count, splits, parts[piece]);
    Side& whole = wholes[piece];
    for (std::size_t k = begin; k < begin + count; ++k) {
      for (std::size_t i = 0; i < kLanes; ++i) whole.sums[i] += residuals[samples[k]][i];
    }
    whole.count = static_cast<std::int64_t>(count);
  });
  const Side whole = std::accumulate(wholes.begin(), wholes.end(), Side{},
                                     [](Side sum, const Side& other) { return sum += other; });
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    Side right;
    for (const std::vector<Side>& part : parts) right += part[i];
    const double gain = right.gain() + (whole - right).gain();
    if (gain > most) {
      most = gain;
      best = i;
    }
  }
  return splits[best];
}

// Thresholds are differences that samples have.
std::vector<Split> draw_splits(const std::vector<PixelRow>& rows, const std::vector<std::uint32_t>& samples,
                               const PairOdds& odds, int count, Random& random) {
  std::vector<Split> splits;
  for (int i = 0; i < count; ++i) {
    const PairOdds::Pair pair = odds.draw(random);
    const std::uint64_t drawn = random.bits();
    int threshold = 0;
    if (!samples.empty()) {
      const PixelRow& row = rows[samples[drawn % samples.size()]];
      threshold = std::clamp(row[pair.first] - row[pair.second], -128, 127);
    }
    splits.push_back({pair.first, pair.second, static_cast<std::int8_t>(threshold)});
  }
  return splits;
}

void make_leaves(Tree& tree, const std::vector<PixelRow>& rows, const std::vector<Residual>& residuals,
                 double shrinkage, int shift) {
  const std::size_t pieces = (rows.size() + kPiece - 1) / kPiece;
  std::vector<std::vector<Side>> parts(pieces, std::vector<Side>(tree.splits.size() + 1));
  parallel_for_isolated(pieces, [&](std::size_t piece) {
    for (std::size_t i = piece * kPiece; i < std::min(rows.size(), (piece + 1) * kPiece); ++i) {
      Side& side = parts[piece][static_cast<std::size_t>(leaf_of(tree, rows[i]))];
      for (std::size_t lane = 0; lane < kLanes; ++lane) side.sums[lane] += residuals[i][lane];
      ++side.count;
    }
  });
  for (std::size_t leaf = 0; leaf <= tree.splits.size(); ++leaf) {
    Side whole;
    for (const std::vector<Side>& part : parts) whole += part[leaf];
    Leaf values{};
    for (std::size_t i = 0; i < kCoordinates && whole.count > 0; ++i) {
      const double mean = static_cast<double>(whole.sums[i]) / static_cast<double>(whole.count);
      values[i] =
          static_cast<std::int8_t>(std::clamp(std::lround(shrinkage * mean / (1 << shift)), -127L, 127L));
    }
    tree.leaves.push_back(values);
  }
}

}  // namespace

PairOdds::PairOdds(const Shape& mean, const std::vector<PixelPlace>& places, double distance) {
  const double unit = distance * kBoxPixels * kUnit;
  for (const PixelPlace& place : places) {
    const std::size_t anchor = 2 * std::size_t{place.anchor};
    x_.push_back((mean[anchor] + place.x) / unit);
    y_.push_back((mean[anchor + 1] + place.y) / unit);
  }
}

PairOdds::Pair PairOdds::draw(Random& random) const {
  // If all are far from each other, any pair is acceptable.
  constexpr int kTrials = 1000;
  Pair pair{};
  for (int trial = 0; trial < kTrials; ++trial) {
    pair = {static_cast<std::uint8_t>(random.below(x_.size())),
            static_cast<std::uint8_t>(random.below(x_.size()))};
    if (pair.first == pair.second) continue;
    const double x = x_[pair.first] - x_[pair.second], y = y_[pair.first] - y_[pair.second];
    if (random.unit() < std::exp(-std::sqrt(x * x + y * y))) break;
  }
  return pair;
}

int leaf_of(const Tree& tree, const PixelRow& pixels) {
  const std::size_t nodes = tree.splits.size();
  std::size_t node = 0;
  while (node < nodes) node = 2 * node + (goes_right(tree.splits[node], pixels) ? 2 : 1);
  return static_cast<int>(node - nodes);
}

Tree grow_tree(const std::vector<PixelRow>& rows, const std::vector<Residual>& residuals,
               const PairOdds& odds, const TrainingOptions& options, int shift, Random& random) {
  const std::size_t nodes = (std::size_t{1} << options.depth) - 1;
  std::vector<std::vector<std::uint32_t>> samples(2 * nodes + 1);
  const auto chosen = std::min(static_cast<std::size_t>(options.split_samples), rows.size());
  for (std::size_t i = 0; i < chosen; ++i)
    samples[0].push_back(static_cast<std::uint32_t>(chosen == rows.size() ? i : random.below(rows.size())));
  Tree tree;
  for (std::size_t node = 0; node < nodes; ++node) {
    const Split split = best_split(rows, residuals, samples[node],
                                   draw_splits(rows, samples[node], odds, options.candidates, random));
    for (const std::uint32_t i : samples[node])
      samples[2 * node + (goes_right(split, rows[i]) ? 2 : 1)].push_back(i);
    tree.splits.push_back(split);
  }
  make_leaves(tree, rows, residuals, options.shrinkage, shift);
  return tree;
}

}  // namespace sightline::landmarks
