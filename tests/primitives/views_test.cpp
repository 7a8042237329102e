#include "made_tensors.hpp"

namespace sightline::nn {
namespace {

const TensorType kReal234{DataType::f32, {2, 3, 4}};

Tensor sizes(const Shape& shape) {
  return Tensor::vector<std::int64_t>(shape);
}

TEST(NetworkReshape, KeepsElementsInTheirOrder) {
  for_all_numbers([]<typename T>() {
    const Tensor x = made<T>({2, 3, 4});
    Tensor wanted = x;
    wanted.reshape({4, 6});
    EXPECT_TRUE(same(run(Reshape{{4, 6}}, {x}), wanted));
    EXPECT_TRUE(same(run(Reshape{{kUnknown, 6}}, {x}), wanted));
    EXPECT_TRUE(same(run(Reshape{{kUnknown, kUnknown}}, {x, sizes({4, 6})}), wanted));
    EXPECT_TRUE(same(run(Reshape{{kUnknown, 6}}, {x, sizes({4, 9})}), wanted));
  });
  EXPECT_EQ(inferred(Reshape{{0, kUnknown}}, {{DataType::f32, {0, 3}}}), (Shape{0, 0}));
  EXPECT_EQ(inferred(Reshape{{2, kUnknown}}, {{DataType::f32, {kUnknown, 3}}}), (Shape{2, kUnknown}));
  expect_refused(Reshape{{5, 5}}, {kReal234});
  expect_refused(Reshape{{5, kUnknown}}, {kReal234});
  expect_refused(Reshape{{kUnknown, kUnknown}}, {kReal234});
  EXPECT_THROW(run(Reshape{{kUnknown, 6}}, {made({2, 3, 4}), sizes({5, 6})}), Problem);
  EXPECT_THROW(run(Reshape{{kUnknown, 6}}, {made({2, 3, 4}), sizes({4})}), Problem);
}

TEST(NetworkTranspose, OrdersAxes) {
  for_all_numbers([]<typename T>() {
    const Tensor x = made<T>({2, 3, 4});
    EXPECT_TRUE(same(run(Transpose{{2, 0, 1}}, {x}), tensor_of<T>({4, 2, 3}, [&](const Shape& p) {
                       return at<T>(x, {p[1], p[2], p[0]});
                     })));
  });
  EXPECT_TRUE(same(run(Transpose{{}}, {Tensor::scalar(3.0F)}), Tensor::scalar(3.0F)));
  EXPECT_EQ(run(Transpose{{1, 0}}, {Tensor(DataType::u8, {0, 3})}).shape(), (Shape{3, 0}));
  expect_refused(Transpose{{0, 1}}, {kReal234});
  expect_refused(Transpose{{0, 1, 1}}, {kReal234});
  expect_refused(Transpose{{0, 1, 3}}, {kReal234});
}

TEST(NetworkSlice, TakesElementsInStepsOfEitherSign) {
  const Tensor x = made_odd({3, 5, 7});
  const Slice part{{2, 0, 6}, {-1, 2, -3}, {3, 2, 3}};
  const Tensor wanted = tensor_of<float>({3, 2, 3}, [&](const Shape& p) {
    return at<float>(x, {2 - p[0], 2 * p[1], 6 - 3 * p[2]});
  });
  EXPECT_TRUE(same(run(part, {x}), wanted));
  const Slice to_the_end{{2, 1, 6}, {-1, 2, -3}, {kUnknown, kUnknown, kUnknown}};
  EXPECT_TRUE(same(run(to_the_end, {x}), tensor_of<float>({3, 2, 3}, [&](const Shape& p) {
                     return at<float>(x, {2 - p[0], 1 + 2 * p[1], 6 - 3 * p[2]});
                   })));
  const Slice by_frame{{kUnknown, 0, 6}, {-1, 2, -3}, {kUnknown, 2, kUnknown}};
  EXPECT_TRUE(same(run(by_frame, {x, Tensor::of<std::int64_t>({2, 3}, {2, 9, 9, 3, 9, 3})}), wanted));
  EXPECT_THROW(run(by_frame, {x, Tensor::of<std::int64_t>({2, 3}, {3, 9, 9, 3, 9, 3})}), Problem);
  EXPECT_EQ(run(Slice{{5, 0, 0}, {1, 1, 1}, {kUnknown, 5, 7}}, {x}).shape(), (Shape{0, 5, 7}));
  EXPECT_EQ(inferred(Slice{{1}, {1}, {kUnknown}}, {{DataType::f32, {kUnknown}}}), (Shape{kUnknown}));
  expect_refused(Slice{{0, 0, 0}, {1, 1, 1}, {2, 3, 5}}, {kReal234});
  expect_refused(Slice{{0, 2, 0}, {1, -1, 1}, {2, 4, 1}}, {kReal234});
  expect_refused(Slice{{0, 0, 0}, {1, 0, 1}, {1, 1, 1}}, {kReal234});
  expect_refused(Slice{{0, 0}, {1, 1}, {1, 1}}, {kReal234});
  expect_refused(Slice{{0, 0, 0}, {1, INT64_MAX, 1}, {2, kUnknown, 4}}, {kReal234});
  expect_refused(Slice{{0, INT64_MIN, 0}, {1, 1, 1}, {2, 1, 4}}, {kReal234});
  EXPECT_THROW(run(by_frame, {x, Tensor::of<std::int64_t>({2, 3}, {INT64_MAX, 9, 9, INT64_MAX, 9, 3})}),
               Problem);
}

TEST(NetworkExpand, RepeatsAxes) {
  for_all_numbers([]<typename T>() {
    const Tensor x = made<T>({3, 1});
    const Tensor wanted = tensor_of<T>({2, 3, 4}, [&](const Shape& p) { return at<T>(x, {p[1], 0}); });
    EXPECT_TRUE(same(run(Expand{{2, 1, 4}}, {x}), wanted));
    EXPECT_TRUE(same(run(Expand{{2, kUnknown, 4}}, {x}), wanted));
    EXPECT_TRUE(same(run(Expand{{kUnknown, kUnknown, 4}}, {x, sizes({2, 3, 9})}), wanted));
  });
  expect_refused(Expand{{2, 4, 4}}, {kReal234});
  EXPECT_THROW(run(Expand{{kUnknown, 4}}, {made({3, 1}), sizes({2, 4})}), Problem);
}

TEST(NetworkConcat, JoinsAlongAnAxis) {
  for_all_numbers([]<typename T>() {
    const Tensor a = made<T>({2, 1, 3}), b = made<T>({2, 0, 3}), c = made<T>({2, 2, 3}, 7);
    EXPECT_TRUE(same(run(Concat{1}, {a, b, c}), tensor_of<T>({2, 3, 3}, [&](const Shape& p) {
                       return p[1] == 0 ? at<T>(a, p) : at<T>(c, {p[0], p[1] - 1, p[2]});
                     })));
  });
  EXPECT_EQ(inferred(Concat{0}, {{DataType::u8, {1, kUnknown}}, {DataType::u8, {kUnknown, 4}}}),
            (Shape{kUnknown, 4}));
  expect_refused(Concat{3}, {kReal234});
  expect_refused(Concat{0}, {});
  expect_refused(Concat{0}, {kReal234, {DataType::f32, {2, 3, 5}}});
  expect_refused(Concat{0}, {kReal234, {DataType::f32, {2, 3}}});
  expect_refused(Concat{0}, {kReal234, {DataType::i32, {2, 3, 4}}});
}

Tensor padded(Padding mode, const std::vector<float>& values) {
  return run(Pad{{5}, {6}, mode, Scalar(9.0F)}, {Tensor::vector<float>(values)});
}

TEST(NetworkPad, FillsInAllModes) {
  EXPECT_TRUE(same(padded(Padding::constant, {1, 2, 3}),
                   Tensor::vector<float>({9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 9, 9, 9})));
  EXPECT_TRUE(same(padded(Padding::edge, {1, 2, 3}),
                   Tensor::vector<float>({1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3})));
  EXPECT_TRUE(same(padded(Padding::reflect, {1, 2, 3}),
                   Tensor::vector<float>({2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1})));
  EXPECT_TRUE(same(padded(Padding::wrap, {1, 2, 3}),
                   Tensor::vector<float>({2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3})));
  EXPECT_TRUE(same(padded(Padding::reflect, {4}), Tensor::vector<float>(std::vector<float>(12, 4))));
  EXPECT_TRUE(same(padded(Padding::edge, {}), Tensor::vector<float>(std::vector<float>(11, 0))));
  for_all_numbers([]<typename T>() {
    const Tensor x = made<T>({2, 3});
    EXPECT_TRUE(same(run(Pad{{1, 0}, {0, 2}, Padding::constant, Scalar(T{3})}, {x}),
                     tensor_of<T>({3, 5}, [&](const Shape& p) {
                       return p[0] > 0 && p[1] < 3 ? at<T>(x, {p[0] - 1, p[1]}) : T{3};
                     })));
  });
  expect_refused(Pad{{1}, {1}, Padding::edge, {}}, {kReal234});
  expect_refused(Pad{{INT64_MAX, 0, 0}, {1, 0, 0}, Padding::edge, {}}, {kReal234});
  expect_refused(Pad{{-1, 0, 0}, {0, 0, 0}, Padding::edge, {}}, {kReal234});
  expect_refused(Pad{{1, 0, 0}, {0, 0, 0}, Padding::constant, Scalar(std::int64_t{1})}, {kReal234});
}

TEST(NetworkSources, CountAndMeasure) {
  EXPECT_TRUE(same(run(Iota{Scalar(0.1F), Scalar(0.3F), 4}, {}),
                   Tensor::vector<float>({0.1F, 0.1F + 0.3F, 0.1F + 2 * 0.3F, 0.1F + 3 * 0.3F})));
  EXPECT_TRUE(same(run(Iota{Scalar(std::int8_t{100}), Scalar(std::int8_t{20}), kUnknown},
                       {Tensor::scalar<std::int64_t>(3)}),
                   Tensor::vector<std::int8_t>({100, 120, -116})));
  EXPECT_TRUE(same(run(Dimension{1}, {made({2, 7})}), Tensor::scalar<std::int64_t>(7)));
  expect_refused(Iota{Scalar(0.0F), Scalar(std::int64_t{1}), 4}, {});
  expect_refused(Iota{Scalar(0.0F), Scalar(1.0F), kUnknown}, {{DataType::f32, {}}});
  expect_refused(Dimension{3}, {kReal234});
  EXPECT_THROW(run(Iota{Scalar(0.0F), Scalar(1.0F), kUnknown}, {Tensor::scalar<std::int64_t>(-3)}), Problem);
}

}  // namespace
}  // namespace sightline::nn
