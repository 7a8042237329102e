#include "laid_channels.hpp"
#include "network/cpu/reduce.hpp"
#include "network/cpu/softmax.hpp"
#include "network/functions.hpp"

namespace sightline::nn {
namespace {

KERNEL_TEST_SUITE(NetworkReduceKernel);

constexpr Fold kFolds[] = {Fold::sum, Fold::product, Fold::minimum, Fold::maximum};

// Points with elements [points, count]: odd ones, many equal ones, and rows of NaN.
std::vector<Tensor> made_points(int points, int count) {
  Tensor equal = made_odd({points, count}, 5), nothing = made({points, count});
  for (float& one : equal.as<float>()) one = std::floor(one / 8);
  for (float& one : nothing.as<float>()) one = one < 0 ? kNan : kInfinity;
  return {made_odd({points, count}, static_cast<std::uint32_t>(count)), made({points, count}), equal, nothing,
          Tensor::of<float>({points, count}, std::vector(static_cast<std::size_t>(points * count), kNan))};
}

// Calls `check(elements, points)` for points as rows of a plain tensor, and in blocks.
template <typename Check>
void for_points(const Check& check) {
  for (const int count : kAwkwardChannels) {
    for (const int points : kAwkwardPoints) {
      for (const Tensor& x : made_points(points, count)) {
        Blocks map(run(Reshape{{count, 1, points}}, {run(Transpose{{1, 0}}, {x})}));
        std::vector<const float*> blocks, parts;
        for (int b = 0; b < map.count(); ++b) {
          blocks.push_back(map.row(b, 0));
          parts.push_back(x.as<float>().data() + b * kBlock);
        }
        check(PointElements{blocks.data(), count, points}, x);
        check(PointElements{parts.data(), count, points, count}, x);
      }
    }
  }
}

// The same for elements in rows.
template <typename Check>
void for_rows(const Check& check) {
  for (const int count : kAwkwardChannels) {
    for (const int width : {1, 5, 16, 37, 100}) {
      for (const Tensor& x : made_points(width, count)) {
        const Tensor turned = run(Transpose{{1, 0}}, {x});
        std::vector<const float*> rows;
        for (int e = 0; e < count; ++e) rows.push_back(turned.as<float>().data() + e * width);
        check(RowElements{rows.data(), count, width}, x);
      }
    }
  }
}

TEST_P(NetworkReduceKernel, FoldsWithinPoints) {
  for_points([](const PointElements& elements, const Tensor& x) {
    for (const Fold fold : kFolds) {
      Tensor y(DataType::f32, {elements.points, 1});
      fold_within_points(fold, elements, y.as<float>().data());
      EXPECT_TRUE(same(y, run(Reduce{fold, {1}}, {x}))) << text_of(x.shape()) << static_cast<int>(fold);
    }
  });
}

TEST_P(NetworkReduceKernel, FoldsAcrossRows) {
  for_rows([](const RowElements& elements, const Tensor& x) {
    for (const Fold fold : kFolds) {
      Tensor y(DataType::f32, {elements.width, 1});
      fold_across_rows(fold, elements, y.as<float>().data());
      EXPECT_TRUE(same(y, run(Reduce{fold, {1}}, {x}))) << text_of(x.shape()) << static_cast<int>(fold);
    }
  });
}

TEST_P(NetworkReduceKernel, FoldsChannelsWhereverTheyLie) {
  constexpr int kPoints = 7;
  for (const int count : kAwkwardChannels) {
    for (const Lay lay : kLays) {
      const Tensor x = made_odd({count, kPoints}, static_cast<std::uint32_t>(count));
      LaidChannels laid(lay, count, kPoints);
      laid.fill(x);
      std::vector<float> scratch(static_cast<std::size_t>((count + 1) * kPoints)), folds(2 * kPoints, 1);
      for (const Fold fold : kFolds) {
        for (const int step : {1, 2}) {
          fold_channels(fold, laid.channels(), count, kPoints, folds.data(), step, scratch.data());
          const Tensor wanted = run(Reduce{fold, {0}}, {x});
          const Tensor got = tensor_of<float>({1, kPoints}, [&](const Shape& place) {
            return folds[static_cast<std::size_t>(place[1] * step)];
          });
          EXPECT_TRUE(same(got, wanted)) << count << " " << static_cast<int>(lay);
        }
      }
    }
  }
}

// The nodes that Softmax becomes, of each `count` of 16 lanes.
Tensor normalised_lanes(const Tensor& x, int count) {
  Tensor y = x;
  for (std::size_t first = 0; first < x.as<float>().size(); first += static_cast<std::size_t>(count)) {
    const Tensor part =
        Tensor::of<float>({1, count}, {x.as<float>().begin() + first, x.as<float>().begin() + first + count});
    Tensor powers = part;
    for (float& one : powers.as<float>())
      one = functions::exponential(one - run(Reduce{Fold::maximum, {1}}, {part}).as<float>()[0]);
    const float sum = run(Reduce{Fold::sum, {1}}, {powers}).as<float>()[0];
    for (int i = 0; i < count; ++i) y.as<float>()[first + i] = powers.as<float>()[i] / sum;
  }
  return y;
}

TEST_P(NetworkReduceKernel, NormalisesLanes) {
  if (!has_fused_multiply_add()) GTEST_SKIP() << "the kernel is for fused multiply-adds alone";
  for (const int count : {2, 4, 8, 16}) {
    for (const int points : kAwkwardPoints) {
      for (const Tensor& x : made_points(points, kBlock)) {
        Tensor y(x.type());
        softmax_lanes(count, x.as<float>().data(), points, y.as<float>().data());
        EXPECT_TRUE(same(y, normalised_lanes(x, count))) << count << ' ' << points;
      }
    }
  }
}

TEST_P(NetworkReduceKernel, FoldsNothing) {
  const Fold fold = Fold::maximum;
  float y[3] = {1, 1, 1};
  fold_within_points(fold, {nullptr, 0, 2}, y, 2);
  EXPECT_EQ(y[0], -kInfinity);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], -kInfinity);
  fold_across_rows(Fold::sum, {nullptr, 0, 3}, y);
  EXPECT_EQ(y[1], 0);
}

}  // namespace
}  // namespace sightline::nn
