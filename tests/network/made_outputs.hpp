#pragma once
/// Outputs of networks that are made by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "detectors/network/scheme.hpp"

namespace sightline::test {

using network::DataType;
using network::NetworkOutputs;
using network::RawBox;
using network::Scheme;
using network::Shape;
using network::Tensor;

/// Outputs of a network with an input of 64x64, filled with zeros or another number.
struct Made {
  NetworkOutputs outputs;
  std::deque<Tensor> tensors;  // whose elements stay where they are

  Made() { outputs.input = {64, 64}; }
  Tensor& add(const std::string& name, const Shape& shape, bool is_probability = false, float fill = 0,
              DataType data = DataType::f32) {
    outputs.all.push_back({name, data, shape, is_probability, false, false, shape.back()});
    tensors.emplace_back(data, shape);
    nn::with_type(data, [&]<typename T>() {
      std::ranges::fill(tensors.back().as<T>(), static_cast<T>(data == DataType::f32 ? fill : 0));
    });
    return tensors.back();
  }
  /// Lets the rules look at the values, as at those of a test picture.
  void show() {
    outputs.probe = [this] {
      std::vector<const Tensor*> values;
      for (const Tensor& one : tensors) values.push_back(&one);
      return values;
    };
  }
  Scheme scheme(const std::string& type = "") const { return choose_scheme(outputs, type); }
  std::string type() const { return scheme().type; }
  std::vector<RawBox> decoded(const std::string& type = "", float threshold = 0.4F) const {
    std::vector<const Tensor*> all;
    for (const Tensor& one : tensors) all.push_back(&one);
    std::vector<RawBox> boxes;
    decode(scheme(type), all, threshold, boxes);
    return boxes;
  }
};

/// The one box that is expected.
inline void expect_box(const std::vector<RawBox>& boxes, int label, float score,
                       std::array<float, 4> corners) {
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].label, label);
  EXPECT_NEAR(boxes[0].score, score, 1e-5);
  EXPECT_NEAR(boxes[0].x1, corners[0], 1e-3);
  EXPECT_NEAR(boxes[0].y1, corners[1], 1e-3);
  EXPECT_NEAR(boxes[0].x2, corners[2], 1e-3);
  EXPECT_NEAR(boxes[0].y2, corners[3], 1e-3);
}

inline void put(float* to, std::initializer_list<float> values) {
  std::copy(values.begin(), values.end(), to);
}

inline constexpr std::int64_t kCells8 = 64, kCells16 = 16, kCells32 = 4,
                              kCells = kCells8 + kCells16 + kCells32;

}  // namespace sightline::test
