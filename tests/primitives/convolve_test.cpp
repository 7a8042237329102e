#include "made_tensors.hpp"

namespace sightline::nn {
namespace {

bool is_inside(std::int64_t at, std::int64_t side) {
  return at >= 0 && at < side;
}

// Windows over a map of 7 x 5.
const std::vector<Window> kWindows = {
    {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {7, 5}}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {7, 5}},
    {{3, 2}, {2, 1}, {1, 2}, {1, 0}, {4, 3}}, {{2, 2}, {1, 1}, {-1, -1}, {-1, -1}, {6, 4}},
    {{5, 5}, {3, 2}, {1, 1}, {4, 4}, {4, 5}}, {{1, 3}, {1, 1}, {1, 4}, {9, 4}, {20, 5}},
    {{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 3}},
};

TEST(NetworkConvolve, IsAChainOverKernelRowsColumnsAndChannels) {
  struct Case {
    std::int64_t groups, channels, kernels;
  };
  for (const Window& window : kWindows) {
    for (const auto& [groups, channels, kernels] : {Case{1, 3, 4}, Case{3, 3, 3}, Case{2, 4, 6}}) {
      const Tensor x = made({2, channels, 7, 5}), start = made({kernels}, 5);
      const Tensor w = made({kernels, channels / groups, window.kernel[0], window.kernel[1]}, 9);
      const auto wanted = [&](bool with_start) {
        return tensor_of<float>({2, kernels, window.out[0], window.out[1]}, [&](const Shape& p) {
          float sum = with_start ? at<float>(start, {p[1]}) : 0.0F;
          const std::int64_t first = p[1] / (kernels / groups) * (channels / groups);
          for (const Shape& tap : places_of({window.kernel[0], window.kernel[1], channels / groups})) {
            const std::int64_t row = p[2] * window.step[0] - window.before[0] + tap[0] * window.tap_step[0];
            const std::int64_t column =
                p[3] * window.step[1] - window.before[1] + tap[1] * window.tap_step[1];
            const bool inside = is_inside(row, 7) && is_inside(column, 5);
            const float value = inside ? at<float>(x, {p[0], first + tap[2], row, column}) : 0.0F;
            sum = std::fma(value, at<float>(w, {p[1], tap[2], tap[0], tap[1]}), sum);
          }
          return sum;
        });
      };
      EXPECT_TRUE(same(run(Convolve{window, groups}, {x, w}), wanted(false)));
      EXPECT_TRUE(same(run(Convolve{window, groups}, {x, w, start}), wanted(true)));
    }
  }
}

TEST(NetworkConvolve, PaddingTakesPartAsZero) {
  const Window window{{1, 2}, {1, 1}, {1, 1}, {0, 1}, {1, 1}};
  const Tensor x = Tensor::of<float>({1, 1, 1, 1}, {2}), w = Tensor::of<float>({1, 1, 1, 2}, {kInfinity, 3});
  EXPECT_TRUE(same(run(Convolve{window}, {x, w}), Tensor::of<float>({1, 1, 1, 1}, {kNan})));
  // 0 * 3 makes 0 of -0.
  const Tensor ones = Tensor::of<float>({1, 1, 1, 2}, {3, 0}), start = Tensor::vector<float>({-0.0F});
  EXPECT_TRUE(same(run(Convolve{window}, {x, ones, start}), Tensor::of<float>({1, 1, 1, 1}, {0.0F})));
}

TEST(NetworkConvolve, RefusesWhatDoesNotFit) {
  const TensorType x{DataType::f32, {1, 4, 5, 5}};
  const Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {5, 5}};
  const auto weights = [](Shape shape) { return TensorType{DataType::f32, std::move(shape)}; };
  EXPECT_EQ(inferred(Convolve{window}, {x, weights({2, 4, 3, 3})}), (Shape{1, 2, 5, 5}));
  EXPECT_EQ(inferred(Convolve{window}, {{DataType::f32, {kUnknown, 4, 5, 5}}, weights({2, 4, 3, 3})}),
            (Shape{kUnknown, 2, 5, 5}));
  expect_refused(Convolve{window}, {x, weights({2, 3, 3, 3})});
  expect_refused(Convolve{window}, {x, weights({2, 4, 3, 1})});
  expect_refused(Convolve{window, 2}, {x, weights({3, 2, 3, 3})});
  expect_refused(Convolve{window, 0}, {x, weights({2, 4, 3, 3})});
  expect_refused(Convolve{window}, {x, weights({2, 4, 3, 3}), weights({3})});
  expect_refused(Convolve{window}, {{DataType::i64, x.shape}, weights({2, 4, 3, 3})});
  expect_refused(Convolve{{{3, 3}, {0, 1}, {1, 1}, {1, 1}, {5, 5}}}, {x, weights({2, 4, 3, 3})});
}

TEST(NetworkWindowFold, FoldsWhatLiesInTheMap) {
  for (const Window& window : kWindows) {
    for (const Tensor& x : {made({2, 3, 7, 5}), made_odd({2, 3, 7, 5})}) {
      const auto wanted = [&](float start, const std::function<float(float, float)>& f) {
        return tensor_of<float>({2, 3, window.out[0], window.out[1]}, [&](const Shape& p) {
          float all = start;
          for (const Shape& tap : places_of({window.kernel[0], window.kernel[1]})) {
            const std::int64_t row = p[2] * window.step[0] - window.before[0] + tap[0] * window.tap_step[0];
            const std::int64_t column =
                p[3] * window.step[1] - window.before[1] + tap[1] * window.tap_step[1];
            if (is_inside(row, 7) && is_inside(column, 5))
              all = f(all, at<float>(x, {p[0], p[1], row, column}));
          }
          return all;
        });
      };
      EXPECT_TRUE(
          same(run(WindowFold{Fold::sum, window}, {x}), wanted(0, [](float a, float b) { return a + b; })));
      EXPECT_TRUE(same(run(WindowFold{Fold::maximum, window}, {x}), wanted(-kInfinity, [](float a, float b) {
                         return std::isnan(a) || std::isnan(b) ? kNan
                                : a == b                       ? (std::signbit(a) ? b : a)
                                                               : std::max(a, b);
                       })));
    }
  }
}

TEST(NetworkWindowFold, TakesIntegersAndMapsWithoutChannels) {
  const Window window{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {1, 2}};
  const Tensor x = Tensor::of<std::uint8_t>({2, 4}, {1, 2, 3, 4, 5, 6, 250, 8});
  EXPECT_TRUE(same(run(WindowFold{Fold::maximum, window}, {x}), Tensor::of<std::uint8_t>({1, 2}, {6, 250})));
  EXPECT_TRUE(same(run(WindowFold{Fold::sum, window}, {x}), Tensor::of<std::uint8_t>({1, 2}, {14, 9})));
  expect_refused(WindowFold{Fold::sum, window}, {{DataType::f32, {4}}});
  expect_refused(WindowFold{Fold::sum, {{0, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}}, {{DataType::f32, {4, 4}}});
}

}  // namespace
}  // namespace sightline::nn
