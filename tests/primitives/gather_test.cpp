#include "made_tensors.hpp"

namespace sightline::nn {
namespace {

TEST(NetworkGather, ReadsPlacesOfAnAxis) {
  for_all_numbers([]<typename T>() {
    const Tensor x = made<T>({2, 5, 3});
    const Tensor index = Tensor::of<std::int32_t>({2, 2}, {4, -5, 1, -1});
    const std::int64_t from[] = {4, 0, 1, 4};
    EXPECT_TRUE(same(run(Gather{By::index, 1}, {x, index}), tensor_of<T>({2, 2, 2, 3}, [&](const Shape& p) {
                       return at<T>(x, {p[0], from[p[1] * 2 + p[2]], p[3]});
                     })));
  });
  const Tensor x = made({2, 5});
  EXPECT_EQ(run(Gather{By::index, 1}, {x, Tensor::scalar<std::int64_t>(3)}).shape(), (Shape{2}));
  EXPECT_EQ(run(Gather{By::index, 1}, {x, Tensor(DataType::i64, {0})}).shape(), (Shape{2, 0}));
  EXPECT_THROW(run(Gather{By::index, 1}, {x, Tensor::scalar<std::int64_t>(5)}), Problem);
  EXPECT_THROW(run(Gather{By::index, 1}, {x, Tensor::scalar<std::int64_t>(-6)}), Problem);
  expect_refused(Gather{By::index, 2}, {{DataType::f32, {2, 5}}, {DataType::i64, {}}});
  expect_refused(Gather{By::index, 0}, {{DataType::f32, {2, 5}}, {DataType::f32, {}}});
}

TEST(NetworkGather, ReadsElements) {
  const Tensor x = made({3, 4});
  const Tensor index = Tensor::of<std::int64_t>({2, 3}, {3, 0, -1, 1, 1, -4});
  EXPECT_TRUE(same(run(Gather{By::element, 1}, {x, index}), tensor_of<float>({2, 3}, [&](const Shape& p) {
                     const std::int64_t i = at<std::int64_t>(index, p);
                     return at<float>(x, {p[0], i < 0 ? i + 4 : i});
                   })));
  expect_refused(Gather{By::element, 1}, {{DataType::f32, {3, 4}}, {DataType::i64, {4, 4}}});
  expect_refused(Gather{By::element, 1}, {{DataType::f32, {3, 4}}, {DataType::i64, {3}}});
}

TEST(NetworkGather, ReadsTuples) {
  const Tensor x = made({2, 3, 4, 5});
  const Tensor index = Tensor::of<std::int64_t>({2, 3, 2}, {0, 1, 2, 3, -1, -4, 1, 1, 0, 0, 2, -1});
  const auto place = [&](const Shape& p, std::int64_t k, std::int64_t side) {
    const std::int64_t i = at<std::int64_t>(index, {p[0], p[1], k});
    return i < 0 ? i + side : i;
  };
  EXPECT_TRUE(same(run(Gather{By::tuple, 0, 1}, {x, index}), tensor_of<float>({2, 3, 5}, [&](const Shape& p) {
                     return at<float>(x, {p[0], place(p, 0, 3), place(p, 1, 4), p[2]});
                   })));
  EXPECT_EQ(run(Gather{By::tuple}, {x, Tensor::of<std::int64_t>({4}, {1, 2, 3, 4})}).shape(), Shape{});
  const TensorType real{DataType::f32, {2, 3}};
  expect_refused(Gather{By::tuple}, {real, {DataType::i64, {}}});
  expect_refused(Gather{By::tuple}, {real, {DataType::i64, {4, 3}}});
  expect_refused(Gather{By::tuple, 0, 1}, {real, {DataType::i64, {3, 1}}});
  expect_refused(Gather{By::tuple}, {real, {DataType::i64, {kUnknown}}});
}

TEST(NetworkScatter, WritesElementsInTheirOrder) {
  for_all_numbers([]<typename T>() {
    const Tensor x = Tensor::of<T>({1, 4}, {1, 2, 3, 4}), updates = Tensor::of<T>({1, 3}, {5, 6, 2});
    const Tensor index = Tensor::of<std::int64_t>({1, 3}, {1, -3, 3});
    const auto scattered = [&](Combine how) {
      return run(Scatter{By::element, 1, how}, {x, index, updates});
    };
    EXPECT_TRUE(same(scattered(Combine::replace), Tensor::of<T>({1, 4}, {1, 6, 3, 2})));
    EXPECT_TRUE(same(scattered(Combine::add), Tensor::of<T>({1, 4}, {1, 13, 3, 6})));
    EXPECT_TRUE(same(scattered(Combine::multiply), Tensor::of<T>({1, 4}, {1, 60, 3, 8})));
    EXPECT_TRUE(same(scattered(Combine::minimum), Tensor::of<T>({1, 4}, {1, 2, 3, 2})));
    EXPECT_TRUE(same(scattered(Combine::maximum), Tensor::of<T>({1, 4}, {1, 6, 3, 4})));
  });
}

TEST(NetworkScatter, WritesTuples) {
  const Tensor x = made({3, 2, 2}), updates = made({2, 2, 2}, 5);
  const Tensor y = run(Scatter{By::tuple}, {x, Tensor::of<std::int64_t>({2, 1}, {-1, 0}), updates});
  EXPECT_TRUE(same(y, tensor_of<float>({3, 2, 2}, [&](const Shape& p) {
                     return p[0] == 1 ? at<float>(x, p) : at<float>(updates, {p[0] == 2 ? 0 : 1, p[1], p[2]});
                   })));
  const TensorType real{DataType::f32, {3, 2}}, index{DataType::i64, {1, 1}};
  expect_refused(Scatter{By::tuple}, {real, index, {DataType::f32, {1, 3}}});
  expect_refused(Scatter{By::tuple}, {real, index, {DataType::i64, {1, 2}}});
  expect_refused(Scatter{By::index}, {real, index, {DataType::f32, {1, 2}}});
  expect_refused(Scatter{By::element, 0, Combine::add},
                 {{DataType::boolean, {1, 1}}, index, {DataType::boolean, {1, 1}}});
  EXPECT_THROW(run(Scatter{By::tuple}, {x, Tensor::of<std::int64_t>({2, 1}, {3, 0}), updates}), Problem);
}

TEST(NetworkTopK, OrdersWithNanFirstAndTiesByPlace) {
  const Tensor x = Tensor::of<float>({2, 5}, {2, kNan, 5, 2, kNan, -0.0F, 0.0F, -kInfinity, kInfinity, 1});
  const std::vector<Tensor> first = run_all(TopK{1, 4, true}, {x});
  EXPECT_TRUE(same(first[0], Tensor::of<float>({2, 4}, {kNan, kNan, 5, 2, kInfinity, 1, -0.0F, 0.0F})));
  EXPECT_TRUE(same(first[1], Tensor::of<std::int64_t>({2, 4}, {1, 4, 2, 0, 3, 4, 0, 1})));
  const std::vector<Tensor> last = run_all(TopK{1, kUnknown, false}, {x, Tensor::scalar<std::int64_t>(3)});
  EXPECT_TRUE(same(last[1], Tensor::of<std::int64_t>({2, 3}, {0, 3, 2, 2, 0, 1})));
  for_all_numbers([]<typename T>() {
    const Tensor y = made<T>({3, 9, 2});
    const std::vector<Tensor> found = run_all(TopK{1, 9, true}, {y});
    for (const Shape& p : places_of({3, 8, 2})) {
      const T a = at<T>(found[0], p), b = at<T>(found[0], {p[0], p[1] + 1, p[2]});
      const auto i = at<std::int64_t>(found[1], p), k = at<std::int64_t>(found[1], {p[0], p[1] + 1, p[2]});
      EXPECT_TRUE(a > b || (a == b && i < k));
      EXPECT_EQ(a, at<T>(y, {p[0], i, p[2]}));
    }
  });
  expect_refused(TopK{0, 3, true}, {{DataType::f32, {2}}});
  expect_refused(TopK{0, -2, true}, {{DataType::f32, {2}}});
  EXPECT_THROW(run(TopK{0, kUnknown, true}, {Tensor::vector<float>({1}), Tensor::scalar<std::int64_t>(2)}),
               Problem);
}

Tensor suppressed(const Suppress& how, const Tensor& boxes, const Tensor& scores, std::int64_t most,
                  float overlap, float score) {
  return run(how, {boxes, scores, Tensor::scalar(most), Tensor::scalar(overlap), Tensor::scalar(score)});
}

TEST(NetworkSuppress, KeepsBoxesByScoreAndOverlap) {
  // Two of the same place, one with its corners exchanged, and one elsewhere.
  const Tensor boxes = Tensor::of<float>({1, 3, 4}, {0, 0, 2, 2, 2, 2, 0, 0, 5, 5, 6, 6});
  const Tensor scores = Tensor::of<float>({1, 2, 3}, {0.5F, 0.9F, 0.9F, 0.7F, 0.7F, 0.1F});
  EXPECT_TRUE(same(suppressed({}, boxes, scores, 9, 0.5F, 0.2F),
                   Tensor::of<std::int64_t>({3, 3}, {0, 0, 1, 0, 0, 2, 0, 1, 0})));
  EXPECT_TRUE(same(suppressed({}, boxes, scores, 1, 0.5F, 0.2F),
                   Tensor::of<std::int64_t>({2, 3}, {0, 0, 1, 0, 1, 0})));
  EXPECT_EQ(suppressed({}, boxes, scores, 9, 1, -kInfinity).shape(), (Shape{6, 3}));
  EXPECT_EQ(suppressed({}, boxes, scores, 0, 1, -kInfinity).shape(), (Shape{0, 3}));
  EXPECT_EQ(suppressed({}, boxes, scores, 9, 0.5F, 0.9F).shape(), (Shape{0, 3}));  // above the limit
  // As centres and sizes, the second one is another box.
  EXPECT_EQ(suppressed({true}, boxes, scores, 9, 0, 0.2F).shape(), (Shape{5, 3}));
}

TEST(NetworkSuppress, RefusesWhatDoesNotFit) {
  const TensorType boxes{DataType::f32, {1, 3, 4}}, scores{DataType::f32, {1, 2, 3}}, real{DataType::f32, {}},
      whole{DataType::i64, {}};
  EXPECT_EQ(inferred(Suppress{}, {boxes, scores, whole, real, real}), (Shape{kUnknown, 3}));
  expect_refused(Suppress{}, {boxes, scores, whole, real});
  expect_refused(Suppress{}, {boxes, scores, real, real, real});
  expect_refused(Suppress{}, {{DataType::f32, {1, 3, 5}}, scores, whole, real, real});
  expect_refused(Suppress{}, {boxes, {DataType::f32, {1, 2, 4}}, whole, real, real});
}

TEST(NetworkNonZero, ListsPlaces) {
  const Tensor x = Tensor::of<float>({2, 3}, {0, kNan, -0.0F, 1e-42F, 0, -1});
  EXPECT_TRUE(same(run(NonZero{}, {x}), Tensor::of<std::int64_t>({2, 3}, {0, 1, 1, 1, 0, 2})));
  EXPECT_TRUE(same(run(NonZero{}, {Tensor::vector<bool>({true, false, true})}),
                   Tensor::of<std::int64_t>({1, 2}, {0, 2})));
  EXPECT_EQ(run(NonZero{}, {Tensor::scalar<std::int32_t>(3)}).shape(), (Shape{0, 1}));
  EXPECT_EQ(inferred(NonZero{}, {{DataType::u8, {2, kUnknown}}}), (Shape{2, kUnknown}));
}

}  // namespace
}  // namespace sightline::nn
