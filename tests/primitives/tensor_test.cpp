#include "made_tensors.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

TEST(NetworkTensor, HasElementsOfItsTypeInAlignedMemory) {
  const Tensor tensor = Tensor::of<std::int8_t>({2, 2}, {1, -2, 3, -4});
  EXPECT_EQ(tensor.type(), (TensorType{DataType::i8, {2, 2}}));
  EXPECT_EQ(tensor.bytes().size(), 4U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
  EXPECT_EQ(tensor.as<std::int8_t>()[3], -4);
  EXPECT_THROW(tensor.as<std::uint8_t>(), std::logic_error);
  EXPECT_EQ(Tensor::scalar(true).as<bool>()[0], true);
}

TEST(NetworkTensor, CopiesHaveElementsOfTheirOwn) {
  const Tensor first = Tensor::vector<float>({1, 2});
  Tensor second = first;
  second.as<float>()[0] = 5;
  EXPECT_EQ(first.as<float>()[0], 1);
  second.reshape({2, 1});
  EXPECT_EQ(second.shape(), (Shape{2, 1}));
  EXPECT_THROW(second.reshape({3}), Problem);
}

TEST(NetworkTensor, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(Tensor(DataType::f32, {2, -1}), Problem);
  EXPECT_THROW(Tensor(DataType::u8, {1 << 15, 1 << 15}), Problem);
  EXPECT_THROW(Tensor(DataType::u8, {0, 1 << 15, 1 << 15}), Problem);
  EXPECT_THROW(Tensor(DataType::u8, Shape(9, 1)), Problem);
  EXPECT_THROW(Tensor::of<float>({3}, {1, 2}), Problem);
  EXPECT_EQ(Tensor(DataType::f32, {4, 0}).size(), 0);
  EXPECT_THROW(Tensor::vector<float>({1}).integers(), Problem);
  EXPECT_EQ(Tensor::vector<std::int32_t>({1, -1}).integers(), (Shape{1, -1}));
}

TEST(NetworkTensor, ScalarsDifferByTypeAndBits) {
  EXPECT_EQ(Scalar(kNan), Scalar(kNan));
  EXPECT_NE(Scalar(0.0F), Scalar(-0.0F));
  EXPECT_NE(Scalar(1.0F), Scalar(std::int64_t{1}));
  EXPECT_EQ(Scalar(std::int8_t{-3}).as<std::int8_t>(), -3);
  EXPECT_THROW(Scalar(1.0F).as<std::int64_t>(), std::logic_error);
}

TEST(NetworkTensor, ShapesBroadcastByNumPysRule) {
  EXPECT_EQ(broadcast({3, 1, 5}, {4, 1}), (Shape{3, 4, 5}));
  EXPECT_EQ(broadcast({}, {0, 2}), (Shape{0, 2}));
  EXPECT_EQ(broadcast({kUnknown, 1}, {7, kUnknown}), (Shape{7, kUnknown}));
  EXPECT_EQ(broadcast({kUnknown}, {1}), (Shape{kUnknown}));
  EXPECT_EQ(broadcast({1}, {kUnknown}), (Shape{kUnknown}));
  EXPECT_THROW(broadcast({2}, {3}), Problem);
}

TEST(NetworkTensor, LoopsPassAllPlacesInRowMajorOrder) {
  std::vector<Shape> places;
  for_each_index({2, 1, 3}, [&](const Shape& place) { places.push_back(place); });
  EXPECT_EQ(places, places_of({2, 1, 3}));
  std::vector<std::int64_t> offsets;
  for_each_place<2>({2, 2}, {Strides{-3, 10}, Strides{0, 1}}, {7, 0}, [&](std::int64_t a, std::int64_t b) {
    offsets.insert(offsets.end(), {a, b});
  });
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{7, 0, 17, 1, 4, 0, 14, 1}));
  for_each_index({2, 0}, [&](const Shape&) { FAIL(); });
  int count = 0;
  for_each_index({}, [&](const Shape&) { ++count; });
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace sightline::nn
