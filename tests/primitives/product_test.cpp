#include "made_tensors.hpp"

namespace sightline::nn {
namespace {

// The place of a broadcast operand.
Shape covered(const Shape& place, const Tensor& tensor) {
  Shape part(place.end() - static_cast<std::ptrdiff_t>(tensor.rank()), place.end());
  for (std::size_t axis = 0; axis < part.size(); ++axis) part[axis] = tensor.dim(axis) == 1 ? 0 : part[axis];
  return part;
}

float chain(const Tensor& a, const Tensor& b, const Tensor* start, const Shape& place) {
  float sum = start ? at<float>(*start, covered(place, *start)) : 0.0F;
  for (std::int64_t k = 0; k < a.shape().back(); ++k) {
    Shape in_a = place, in_b = place;
    in_a.back() = k;
    in_b[place.size() - 2] = k;
    // The last two sides do not broadcast, though they may be 1: their places are then 0.
    sum = std::fma(at<float>(a, covered(in_a, a)), at<float>(b, covered(in_b, b)), sum);
  }
  return sum;
}

TEST(NetworkProduct, IsAChainOverDepth) {
  struct Case {
    Shape a, b, start, out;
  };
  const std::vector<Case> cases = {
      {{3, 5}, {5, 4}, {4}, {3, 4}},
      {{1, 5}, {5, 1}, {}, {1, 1}},
      {{2, 1, 3, 5}, {4, 5, 2}, {4, 1, 2}, {2, 4, 3, 2}},
      {{3, 1}, {2, 1, 6}, {3, 6}, {2, 3, 6}},
      {{7, 1, 2}, {2, 3}, {1, 1, 1}, {7, 1, 3}},
      {{2, 0}, {0, 3}, {2, 1}, {2, 3}},
  };
  for (const Case& one : cases) {
    for (const bool odd : {false, true}) {
      const auto tensor = [&](const Shape& shape, std::uint32_t seed) {
        return odd ? made_odd(shape, seed) : made(shape, seed);
      };
      const Tensor a = tensor(one.a, 1), b = tensor(one.b, 2), start = tensor(one.start, 3);
      EXPECT_TRUE(same(run(Product{}, {a, b}), tensor_of<float>(one.out, [&](const Shape& place) {
                         return chain(a, b, nullptr, place);
                       })));
      EXPECT_TRUE(same(run(Product{}, {a, b, start}), tensor_of<float>(one.out, [&](const Shape& place) {
                         return chain(a, b, &start, place);
                       })));
    }
  }
}

TEST(NetworkProduct, RefusesWhatDoesNotFit) {
  const auto real = [](Shape shape) { return TensorType{DataType::f32, std::move(shape)}; };
  expect_refused(Product{}, {real({3, 5}), real({4, 5})});
  expect_refused(Product{}, {real({5}), real({5, 4})});
  expect_refused(Product{}, {real({2, 3, 5}), real({3, 5, 4})});
  expect_refused(Product{}, {real({3, 5}), real({5, 4}), real({2, 3, 4})});
  expect_refused(Product{}, {real({3, 5}), {DataType::i64, {5, 4}}});
  EXPECT_EQ(inferred(Product{}, {real({kUnknown, 5}), real({5, 4})}), (Shape{kUnknown, 4}));
}

TEST(NetworkResample, MixesColumnsThenRows) {
  const Taps rows{{0, 1, 2, 0}, {1, 2, 2, 2}, {0.25F, 0.0F, 1.0F, 0.7F}},
      columns{{1, 0, 4}, {2, 0, 3}, {0.1F, 0.5F, 0.9F}};
  for (const Tensor& x : {made({2, 3, 3, 5}), made_odd({2, 3, 3, 5})}) {
    const Tensor wanted = tensor_of<float>({2, 3, 4, 3}, [&](const Shape& p) {
      const auto r = static_cast<std::size_t>(p[2]), c = static_cast<std::size_t>(p[3]);
      const auto row = [&](std::int64_t y) {
        const float a = at<float>(x, {p[0], p[1], y, columns.first[c]}),
                    b = at<float>(x, {p[0], p[1], y, columns.second[c]});
        return std::fma(b - a, columns.weight[c], a);
      };
      const float a = row(rows.first[r]), b = row(rows.second[r]);
      return std::fma(b - a, rows.weight[r], a);
    });
    EXPECT_TRUE(same(run(Resample{rows, columns}, {x}), wanted));
  }
  expect_refused(Resample{rows, columns}, {{DataType::f32, {3, 4}}});
  expect_refused(Resample{{{0}, {0, 1}, {0}}, columns}, {{DataType::f32, {3, 5}}});
  expect_refused(Resample{{{-1}, {0}, {0}}, columns}, {{DataType::f32, {3, 5}}});
  expect_refused(Resample{rows, columns}, {{DataType::f32, {5}}});
}

// Samples of a map of 2 x 2 with the elements 1, 2, 3, 4.
Tensor sampled(const GridSample& how, const std::vector<float>& places) {
  const Tensor x = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  Tensor y =
      run(how, {x, Tensor::of<float>({1, 1, static_cast<std::int64_t>(places.size()) / 2, 2}, places)});
  y.reshape({y.size()});
  return y;
}

TEST(NetworkGridSample, TakesPlacesInTheMapAndAtItsBorder) {
  const std::vector<float> places = {-1, -1, 1, -1, 0, 0, 0.5F, 1, 3, 3, kNan, 0};
  EXPECT_TRUE(same(sampled({false, true, Border::zeros}, places),
                   Tensor::vector<float>({1, 2, 2.5F, 3.75F, 0, kNan})));
  EXPECT_TRUE(same(sampled({false, false, Border::zeros}, places),
                   Tensor::vector<float>({0.25F, 0.5F, 2.5F, 2, 0, kNan})));
  EXPECT_TRUE(
      same(sampled({false, false, Border::edge}, places), Tensor::vector<float>({1, 2, 2.5F, 4, 4, kNan})));
  EXPECT_TRUE(same(sampled({true, true, Border::zeros}, places), Tensor::vector<float>({1, 2, 1, 4, 0, 0})));
}

TEST(NetworkGridSample, SamplesAllChannelsOfEachPicture) {
  const Tensor x = made({2, 3, 4, 5}), grid = made({2, 1, 2, 2}, 4);
  Tensor small = grid;
  for (float& one : small.as<float>()) one /= 9;
  const Tensor all = run(GridSample{}, {x, small});
  for (const Shape& p : places_of({2, 3})) {
    const Tensor plane = tensor_of<float>({1, 1, 4, 5}, [&](const Shape& i) {
      return at<float>(x, {p[0], p[1], i[2], i[3]});
    });
    const Tensor own = tensor_of<float>({1, 1, 2, 2}, [&](const Shape& i) {
      return at<float>(small, {p[0], 0, i[2], i[3]});
    });
    const Tensor one = run(GridSample{}, {plane, own});
    for (const std::int64_t i : {0, 1})
      EXPECT_EQ(at<float>(all, {p[0], p[1], 0, i}), at<float>(one, {0, 0, 0, i}));
  }
  const auto real = [](Shape shape) { return TensorType{DataType::f32, std::move(shape)}; };
  expect_refused(GridSample{}, {real({1, 1, 2, 2}), real({2, 1, 1, 2})});
  expect_refused(GridSample{}, {real({1, 1, 2, 2}), real({1, 1, 1, 3})});
  expect_refused(GridSample{}, {real({1, 1, 0, 2}), real({1, 1, 1, 2})});
  expect_refused(GridSample{}, {real({1, 2, 2}), real({1, 1, 1, 2})});
}

}  // namespace
}  // namespace sightline::nn
