#include "made_tensors.hpp"

namespace sightline::nn {
namespace {

// Reduced elements of a place, in row-major order.
template <typename T>
std::vector<T> elements_at(const Tensor& x, const Axes& axes, const Shape& place) {
  std::vector<T> elements;
  Shape sides;
  for (const std::size_t axis : axes) sides.push_back(x.dim(axis));
  for (const Shape& part : places_of(sides)) {
    Shape whole = place;
    for (std::size_t i = 0; i < axes.size(); ++i) whole[axes[i]] = part[i];
    elements.push_back(at<T>(x, whole));
  }
  return elements;
}

template <typename T>
Tensor reduced(const Tensor& x, const Axes& axes, const std::function<T(const std::vector<T>&)>& f) {
  Shape shape = x.shape();
  for (const std::size_t axis : axes) shape[axis] = 1;
  return tensor_of<T>(shape, [&](const Shape& place) { return f(elements_at<T>(x, axes, place)); });
}

const std::vector<std::pair<Shape, Axes>> kCases = {
    {{3, 5, 7}, {0}}, {{3, 5, 7}, {1}}, {{3, 5, 7}, {2}}, {{3, 5, 7}, {0, 2}}, {{2, 3, 4, 5}, {1, 3}},
    {{37}, {0}},      {{1, 1}, {1}},    {{3, 4}, {}},     {{0, 3}, {1}},       {{}, {}}};

float lanes_of(const std::vector<float>& x) {
  float lanes[16] = {};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 16] += x[i];
  for (const std::size_t half : {8, 4, 2, 1}) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
  }
  return lanes[0];
}

TEST(NetworkReduce, SumsFloatsInSixteenLanes) {
  for (const auto& [shape, axes] : kCases) {
    for (const Tensor& x : {made(shape), made_odd(shape)})
      EXPECT_TRUE(same(run(Reduce{Fold::sum, axes}, {x}), reduced<float>(x, axes, lanes_of)))
          << text_of(shape);
  }
}

TEST(NetworkReduce, FoldsAllNumbers) {
  const auto product = []<typename T>(const std::vector<T>& x) {
    T all = 1;
    for (const T one : x) all = static_cast<T>(all * one);
    return all;
  };
  const auto largest = []<typename T>(const std::vector<T>& x) { return *std::ranges::max_element(x); };
  const auto smallest = []<typename T>(const std::vector<T>& x) { return *std::ranges::min_element(x); };
  const auto sum = []<typename T>(const std::vector<T>& x) {
    T all = 0;
    for (const T one : x) all = static_cast<T>(all + one);
    return all;
  };
  for (const auto& [shape, axes] : kCases) {
    for_all_numbers([&]<typename T>() {
      const Tensor x = made<T>(shape, 3);
      EXPECT_TRUE(same(run(Reduce{Fold::product, axes}, {x}), reduced<T>(x, axes, product)));
      EXPECT_TRUE(same(run(Reduce{Fold::maximum, axes}, {x}), reduced<T>(x, axes, largest)));
      EXPECT_TRUE(same(run(Reduce{Fold::minimum, axes}, {x}), reduced<T>(x, axes, smallest)));
      if constexpr (std::is_integral_v<T>) {
        EXPECT_TRUE(same(run(Reduce{Fold::sum, axes}, {x}), reduced<T>(x, axes, sum)));
      }
    });
  }
}

TEST(NetworkReduce, ExtremesTakeNanAndTheSignOfZero) {
  const Tensor x = Tensor::of<float>({3, 3}, {1, kNan, 2, -0.0F, 0.0F, -0.0F, 4, 4, -kInfinity});
  EXPECT_TRUE(same(run(Reduce{Fold::maximum, {1}}, {x}), Tensor::of<float>({3, 1}, {kNan, 0.0F, 4})));
  EXPECT_TRUE(
      same(run(Reduce{Fold::minimum, {1}}, {x}), Tensor::of<float>({3, 1}, {kNan, -0.0F, -kInfinity})));
}

TEST(NetworkReduce, FoldsNothingToItsStart) {
  const Tensor reals(DataType::f32, {2, 0}), wholes(DataType::u8, {0});
  EXPECT_TRUE(same(run(Reduce{Fold::sum, {1}}, {reals}), Tensor::of<float>({2, 1}, {0, 0})));
  EXPECT_TRUE(same(run(Reduce{Fold::product, {1}}, {reals}), Tensor::of<float>({2, 1}, {1, 1})));
  EXPECT_TRUE(
      same(run(Reduce{Fold::maximum, {1}}, {reals}), Tensor::of<float>({2, 1}, {-kInfinity, -kInfinity})));
  EXPECT_TRUE(same(run(Reduce{Fold::minimum, {0}}, {wholes}), Tensor::vector<std::uint8_t>({255})));
}

TEST(NetworkReduce, RefusesWhatDoesNotFit) {
  expect_refused(Reduce{Fold::sum, {2}}, {{DataType::f32, {2, 3}}});
  expect_refused(Reduce{Fold::sum, {0}}, {{DataType::boolean, {2, 3}}});
  expect_refused(Reduce{Fold::sum, {0}}, {});
  EXPECT_EQ(inferred(Reduce{Fold::sum, {1}}, {{DataType::f32, {kUnknown, kUnknown}}}), (Shape{kUnknown, 1}));
}

TEST(NetworkArgReduce, TakesNanAsLargestAndTheFirstOfEqualOnes) {
  const Tensor x = Tensor::of<float>({2, 4}, {1, 3, 3, 0, kNan, 9, kNan, -1});
  const auto places = [](std::vector<std::int64_t> values) {
    return Tensor::of<std::int64_t>({2, 1}, values);
  };
  EXPECT_TRUE(same(run(ArgReduce{true, 1}, {x}), places({1, 0})));
  EXPECT_TRUE(same(run(ArgReduce{true, 1, true}, {x}), places({2, 2})));
  EXPECT_TRUE(same(run(ArgReduce{false, 1}, {x}), places({3, 3})));
  EXPECT_TRUE(same(run(ArgReduce{true, 0}, {x}), Tensor::of<std::int64_t>({1, 4}, {1, 1, 1, 0})));
  for_all_numbers([]<typename T>() {
    const Tensor y = made<T>({3, 37, 2});
    const Tensor wanted = tensor_of<std::int64_t>({3, 1, 2}, [&](const Shape& place) {
      const std::vector<T> row = elements_at<T>(y, {1}, place);
      return std::int64_t{std::ranges::min_element(row) - row.begin()};
    });
    EXPECT_TRUE(same(run(ArgReduce{false, 1}, {y}), wanted));
  });
  expect_refused(ArgReduce{true, 1}, {{DataType::f32, {2, 0}}});
  expect_refused(ArgReduce{true, 2}, {{DataType::f32, {2, 1}}});
}

TEST(NetworkScan, AddsUpAlongAnAxis) {
  const Tensor x = made_odd({3, 5, 2});
  Tensor wanted(DataType::f32, x.shape());
  for (std::int64_t a = 0; a < 3; ++a) {
    for (std::int64_t b = 0; b < 2; ++b) {
      float sum = 0;
      for (std::int64_t i = 0; i < 5; ++i)
        wanted.as<float>()[static_cast<std::size_t>((a * 5 + i) * 2 + b)] = sum =
            at<float>(x, {a, i, b}) + sum;
    }
  }
  EXPECT_TRUE(same(run(Scan{1}, {x}), wanted));
  EXPECT_TRUE(same(run(Scan{0}, {Tensor::vector<float>({-0.0F})}), Tensor::vector<float>({0.0F})));
  EXPECT_TRUE(same(run(Scan{0}, {Tensor::vector<std::uint8_t>({200, 100, 1})}),
                   Tensor::vector<std::uint8_t>({200, 44, 45})));
  expect_refused(Scan{1}, {{DataType::f32, {2}}});
}

}  // namespace
}  // namespace sightline::nn
