// The verification network: windows -> the head's sums.
#include "detectors/filterbank/network/network.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/kernel_test.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using test::ConvolutionShape;

using test::Guarded;
using test::Numbers;

KERNEL_TEST_SUITE(NetworkKernel);

enum class NetworkFill { random, extreme, positive };

std::int8_t weight_of(NetworkFill fill, Numbers& numbers) {
  if (fill == NetworkFill::positive) return kMaxNetworkWeight;
  if (fill == NetworkFill::extreme)
    return static_cast<std::int8_t>(numbers(0, 1) == 0 ? -kMaxNetworkWeight : kMaxNetworkWeight);
  return static_cast<std::int8_t>(numbers(-kMaxNetworkWeight, kMaxNetworkWeight));
}

// Scales that leave most outputs between their ends.
Network make_network(Size window, const std::vector<ConvolutionShape>& shapes, NetworkFill fill,
                     Numbers& numbers) {
  Network network{.window = window, .convolutions = {}, .head = {}, .box = {}};
  int inputs = 1;
  for (const ConvolutionShape& shape : shapes) {
    Convolution c{shape.size, shape.stride, inputs, shape.outputs, {}, {}, {}};
    const int count = shape.size * shape.size * inputs;
    for (int i = 0; i < count * shape.outputs; ++i) c.weights.push_back(weight_of(fill, numbers));
    const float spread = 0.3F / (fill == NetworkFill::positive ? static_cast<float>(count)
                                                               : std::sqrt(static_cast<float>(count)));
    for (int i = 0; i < shape.outputs; ++i) {
      c.bias.push_back(numbers(-2000, 2000));
      c.scale.push_back(spread * static_cast<float>(0.02 + 0.2 * numbers.real()));
    }
    inputs = shape.outputs;
    window = c.output_size(window);
    network.convolutions.push_back(c);
  }
  for (int i = 0; i < window.width * window.height * inputs; ++i)
    network.head.weights.push_back(weight_of(fill, numbers));
  return network;
}

/// A picture whose rows lie apart, as those of a window do, and with nothing that may be read to its right.
class Window {
 public:
  explicit Window(Size size)
      : size_(size), memory_(static_cast<std::size_t>(size.width + 3) * (size.height - 1) + size.width) {}
  std::uint8_t& at(int x, int y) { return memory_[static_cast<std::size_t>(y) * (size_.width + 3) + x]; }
  GrayView view() const { return {memory_.data(), size_.width, size_.height, size_.width + 3}; }

 private:
  Size size_;
  std::vector<std::uint8_t> memory_;
};

Window make_window(Size size, test::Pattern pattern, Numbers& numbers) {
  Window window(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) window.at(x, y) = test::pixel_of(pattern, x, y, numbers);
  }
  return window;
}

void check_network(const Network& network, GrayView window) {
  ASSERT_EQ(what_is_wrong(network), "");
  const PackedNetwork packed(network);
  Guarded<std::uint8_t> scratch(packed.scratch_bytes());
  ASSERT_EQ(run_network(packed, window, scratch.data()), reference::run_network(network, window))
      << network.window.width << "x" << network.window.height << ", " << network.convolutions.size()
      << " convolutions, the first of size " << network.convolutions[0].size << " and stride "
      << network.convolutions[0].stride;
  ASSERT_TRUE(scratch.untouched_outside(0, static_cast<std::ptrdiff_t>(scratch.size())));
}

// Every other network has heads of boxes.
void check_network(Size size, const std::vector<ConvolutionShape>& shapes, NetworkFill fill,
                   test::Pattern pattern, unsigned seed) {
  Numbers numbers(seed);
  Network network = make_network(size, shapes, fill, numbers);
  for (std::size_t i = 0; seed % 2 == 1 && i < kBoxHeads; ++i) {
    network.box.push_back(network.head);
    for (std::int8_t& weight : network.box.back().weights) weight = weight_of(fill, numbers);
  }
  check_network(network, make_window(size, pattern, numbers).view());
}

void give_boxes(Network& network) {
  network.box.assign(kBoxHeads, network.head);
}

// A network that shows what one number of a convolution is: the head looks at one output of one place.
Network eye(Size window, Convolution c, int output, int place) {
  const Size size = c.output_size(window);
  Network network{.window = window, .convolutions = {}, .head = {}, .box = {}};
  network.head.weights.assign(static_cast<std::size_t>(size.width) * size.height * c.outputs, 0);
  network.head.weights[static_cast<std::size_t>(place) * c.outputs + output] = 1;
  network.convolutions.push_back(std::move(c));
  return network;
}

Convolution one_weight(int outputs, int output, int weight, int bias, float scale) {
  Convolution c{1, 1, 1, outputs, {}, {}, {}};
  c.weights.assign(outputs, 0);
  c.weights[output] = static_cast<std::int8_t>(weight);
  c.bias.assign(outputs, 0);
  c.bias[output] = bias;
  c.scale.assign(outputs, scale);
  return c;
}

std::int32_t seen(const Network& network, GrayView window) {
  EXPECT_EQ(what_is_wrong(network), "");
  const PackedNetwork packed(network);
  Guarded<std::uint8_t> scratch(packed.scratch_bytes());
  const NetworkSums sums = run_network(packed, window, scratch.data());
  EXPECT_EQ(sums, reference::run_network(network, window));
  return sums.logit;
}

TEST_P(NetworkKernel, NormalisesByHand) {
  // Mean floor((100 + 100 + 100 + 140 + 2) / 4) = 110, deviation 60, gain floor(32 * 1024 * 4 / 60) = 2184.
  Window window({2, 2});
  for (const int i : {0, 1, 2}) window.at(i % 2, i / 2) = 100;
  window.at(1, 1) = 140;
  const auto pixel = [&](int place) {
    return seen(eye({2, 2}, one_weight(16, 3, 1, 100, 1.0F), 3, place), window.view()) - 100;
  };
  EXPECT_EQ(pixel(0), -21);  // floor((-10 * 2184 + 512) / 1024)
  EXPECT_EQ(pixel(2), -21);
  EXPECT_EQ(pixel(3), 64);  // floor((30 * 2184 + 512) / 1024)
}

TEST_P(NetworkKernel, NormalisesFlatAndTwoValuedWindows) {
  const Size size{9, 5};
  for (const int level : {0, 1, 127, 128, 255}) {
    Window window(size);
    for (int i = 0; i < 45; ++i) window.at(i % 9, i / 9) = static_cast<std::uint8_t>(level);
    const auto pixel = [&](int place) {
      return seen(eye(size, one_weight(32, 17, 1, 128, 1.0F), 17, place), window.view()) - 128;
    };
    EXPECT_EQ(pixel(0), 0) << level;
    EXPECT_EQ(pixel(44), 0) << level;
    // One pixel apart: the mean does not move for the least of differences, and is clamped for large ones.
    window.at(4, 2) = static_cast<std::uint8_t>(level < 128 ? level + 1 : level - 1);
    EXPECT_EQ(pixel(22), level < 128 ? 8 : -8) << level;  // 4 is the least deviation: 32 / 4
    window.at(4, 2) = level < 128 ? 255 : 0;
    EXPECT_EQ(pixel(22), level < 128 ? 127 : -127) << level;
  }
  Window halves({10, 5});
  for (int i = 0; i < 50; ++i) halves.at(i % 10, i / 10) = i % 10 < 5 ? 0 : 255;
  const auto pixel = [&](int place) {
    return seen(eye({10, 5}, one_weight(16, 0, 1, 128, 1.0F), 0, place), halves.view()) - 128;
  };
  EXPECT_EQ(pixel(0), -32);  // mean 128, deviation 127.5 * n, gain 257
  EXPECT_EQ(pixel(9), 32);
}

TEST_P(NetworkKernel, RoundsHalfToEvenAndClamps) {
  Window flat({1, 1});
  const auto output = [&](int sum, float scale) {
    return seen(eye({1, 1}, one_weight(16, 5, 1, sum, scale), 5, 0), flat.view());
  };
  EXPECT_EQ(output(1, 0.5F), 0);
  EXPECT_EQ(output(3, 0.5F), 2);
  EXPECT_EQ(output(5, 0.5F), 2);
  EXPECT_EQ(output(509, 0.5F), 254);
  EXPECT_EQ(output(510, 0.5F), 255);
  EXPECT_EQ(output(511, 0.5F), 255);
  EXPECT_EQ(output(-1, 1.0F), 0);
  const int most = std::numeric_limits<std::int32_t>::max() - 127;
  for (const float scale : {1.0F, 1e-7F, 1e9F, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(output(most, scale), scale < 1 ? 215 : 255) << scale;
    EXPECT_EQ(output(-most, scale), 0) << scale;
  }
  EXPECT_EQ(output(most, std::numeric_limits<float>::denorm_min()), 0);
}

// Which inputs a kernel sees, weight by weight, in the first and in a later convolution.
TEST_P(NetworkKernel, KernelsAreCentredOnEveryStridethInput) {
  Numbers numbers(5);
  const Size size{7, 6};
  const Window window = make_window(size, test::Pattern::noise, numbers);
  for (const int side : {1, 3, 5}) {
    for (const int stride : {1, 2}) {
      for (int tap = 0; tap < side * side; ++tap) {
        Convolution c{
            side, stride, 1, 16, {}, std::vector<std::int32_t>(16, 127), std::vector<float>(16, 1.0F)};
        c.weights.assign(static_cast<std::size_t>(16) * side * side, 0);
        c.weights[4 * side * side + tap] = 1;
        const Size to = c.output_size(size);
        for (int place = 0; place < to.width * to.height; place += 3) {
          const int x = place % to.width * stride + tap % side - side / 2;
          const int y = place / to.width * stride + tap / side - side / 2;
          const bool inside = x >= 0 && x < size.width && y >= 0 && y < size.height;
          const int pixel =
              inside ? seen(eye(size, one_weight(16, 4, 1, 127, 1.0F), 4, y * size.width + x), window.view())
                     : 127;
          ASSERT_EQ(seen(eye(size, c, 4, place), window.view()), pixel)
              << side << " " << stride << " " << tap;
        }
      }
    }
  }
}

TEST_P(NetworkKernel, TypicalNetworks) {
  for (const int channels : {32, 64}) {
    const std::vector<ConvolutionShape> shapes{{5, 2, 16}, {3, 2, 32}, {3, 2, channels}, {3, 1, channels}};
    for (const NetworkFill fill : {NetworkFill::random, NetworkFill::extreme})
      check_network({64, 128}, shapes, fill, test::Pattern::noise, static_cast<unsigned>(channels));
  }
}

TEST_P(NetworkKernel, EveryPatternAndFill) {
  for (const test::Pattern pattern : test::kPatterns) {
    for (const NetworkFill fill : {NetworkFill::random, NetworkFill::extreme, NetworkFill::positive})
      check_network({19, 23}, {{5, 2, 16}, {3, 1, 48}, {3, 2, 32}}, fill, pattern, 3);
  }
}

TEST_P(NetworkKernel, EverySizeAndStride) {
  unsigned seed = 0;
  for (const int first : {1, 3, 5}) {
    for (const int second : {1, 3, 5}) {
      for (const int stride : {1, 2}) {
        for (const Size size : {Size{21, 18}, {16, 16}, {33, 7}, {70, 9}}) {
          check_network(size, {{first, stride, 16}, {second, 3 - stride, 32}}, NetworkFill::random,
                        test::Pattern::noise, ++seed);
          check_network(size, {{first, stride, 32}, {second, stride, 16}}, NetworkFill::extreme,
                        test::Pattern::noise, ++seed);
        }
      }
    }
  }
}

TEST_P(NetworkKernel, SmallWindows) {
  for (const Size size : {Size{1, 1}, {2, 1}, {1, 2}, {17, 1}, {1, 17}, {64, 1}, {65, 1}, {3, 3}, {5, 4}}) {
    for (const int first : {1, 3, 5}) {
      for (const int second : {1, 3, 5}) {
        check_network(size, {{first, 2, 16}, {second, 2, 16}}, NetworkFill::random, test::Pattern::noise, 1);
        check_network(size, {{first, 1, 48}, {second, 1, 16}}, NetworkFill::random, test::Pattern::noise, 2);
      }
    }
  }
}

TEST_P(NetworkKernel, EveryWidth) {
  for (int width = 1; width <= 70; ++width) {
    check_network({width, 5}, {{5, 2, 16}, {3, 1, 32}}, NetworkFill::random, test::Pattern::noise,
                  static_cast<unsigned>(width));
  }
}

TEST_P(NetworkKernel, EveryNumberOfChannels) {
  for (int channels = kChannelUnit; channels <= kMaxChannels; channels += kChannelUnit) {
    check_network({10, 3}, {{3, 1, channels}, {3, 1, 16}}, NetworkFill::random, test::Pattern::noise, 1);
    check_network({10, 3}, {{3, 1, 16}, {3, 2, channels}}, NetworkFill::extreme, test::Pattern::noise, 1);
  }
}

TEST_P(NetworkKernel, ManyConvolutionsAndALargeWindow) {
  check_network({11, 11}, std::vector<ConvolutionShape>(kMaxConvolutions, {3, 1, 16}), NetworkFill::random,
                test::Pattern::noise, 9);
  for (const test::Pattern pattern : {test::Pattern::noise, test::Pattern::stripes})
    check_network({512, 512}, {{5, 2, 16}, {1, 2, 16}}, NetworkFill::random, pattern, 10);
}

// Sums near the ends of 32 bits.
TEST_P(NetworkKernel, LargestSums) {
  Numbers numbers(4);
  Network network = make_network({17, 12}, {{5, 1, 48}, {5, 1, 16}}, NetworkFill::positive, numbers);
  for (Convolution& c : network.convolutions) {
    const std::int64_t reach = static_cast<std::int64_t>(c.size) * c.size * c.inputs * kMaxNetworkWeight *
                               (c.inputs == 1 ? 127 : 255);
    for (int i = 0; i < c.outputs; ++i) {
      const bool up = i % 2 == 0;
      for (int j = 0; j < c.size * c.size * c.inputs; ++j) {
        std::int8_t& weight = c.weights[static_cast<std::size_t>(i) * c.size * c.size * c.inputs + j];
        weight = static_cast<std::int8_t>(up ? kMaxNetworkWeight : -kMaxNetworkWeight);
      }
      const std::int64_t bias = std::numeric_limits<std::int32_t>::max() - reach;
      c.bias[i] = static_cast<std::int32_t>(up ? bias : i % 4 == 1 ? -bias : bias);
      c.scale[i] = i % 3 == 0 ? 1e9F : 1e-7F;
    }
  }
  for (const test::Pattern pattern : test::kPatterns)
    check_network(network, make_window({17, 12}, pattern, numbers).view());
}

TEST_P(NetworkKernel, BottomUpWindow) {
  Numbers numbers(2);
  const Size size{20, 13};
  const Network network = make_network(size, {{5, 2, 16}, {3, 2, 16}}, NetworkFill::random, numbers);
  const Window window = make_window(size, test::Pattern::noise, numbers);
  const GrayView upright = window.view();
  check_network(network, {upright.row(size.height - 1), size.width, size.height, -upright.stride()});
}

// --- what_is_wrong
// ----------------------------------------------------------------------------------------

Network good_network() {
  Numbers numbers(1);
  Network network = make_network({12, 9}, {{5, 2, 16}, {3, 1, 32}}, NetworkFill::random, numbers);
  network.first_stage_threshold = -1;
  network.weight = 0.5;
  network.limit = 3;
  return network;
}

TEST(WhatIsWrongWithANetwork, Nothing) {
  EXPECT_EQ(what_is_wrong(good_network()), "");
  EXPECT_EQ(what_is_wrong(Network{}), "");
  Network network = good_network();
  network.first_stage_threshold = -std::numeric_limits<double>::infinity();
  network.weight = network.limit = 0;
  EXPECT_EQ(what_is_wrong(network), "");
}

struct Mistake {
  std::string name;
  std::function<void(Network&)> make;
  std::string words;
};

class NetworkMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(NetworkMistake, IsFound) {
  Network network = good_network();
  GetParam().make(network);
  EXPECT_THAT(what_is_wrong(network), ::testing::HasSubstr(GetParam().words));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

INSTANTIATE_TEST_SUITE_P(
    All, NetworkMistake,
    ::testing::Values(
        Mistake{"WeightsMissing", [](Network& n) { n.convolutions[1].weights.pop_back(); }, "4607 weights"},
        Mistake{"WeightsTooMany", [](Network& n) { n.convolutions[0].weights.push_back(0); }, "401 weights"},
        Mistake{"BiasMissing", [](Network& n) { n.convolutions[0].bias.pop_back(); }, "15 biases"},
        Mistake{"ScaleTooMany", [](Network& n) { n.convolutions[1].scale.push_back(1); }, "33 scales"},
        Mistake{"SizeEven", [](Network& n) { n.convolutions[0].size = 4; }, "a size of 4"},
        Mistake{"SizeNegative", [](Network& n) { n.convolutions[1].size = -3; }, "a size of -3"},
        Mistake{"StrideNone", [](Network& n) { n.convolutions[0].stride = 0; }, "a stride of 0"},
        Mistake{"StrideLarge", [](Network& n) { n.convolutions[0].stride = 3; }, "a stride of 3"},
        Mistake{"OutputsOdd", [](Network& n) { n.convolutions[0].outputs = 24; }, "24 outputs"},
        Mistake{"OutputsNone", [](Network& n) { n.convolutions[0].outputs = 0; }, "0 outputs"},
        Mistake{"OutputsMany", [](Network& n) { n.convolutions[1].outputs = 272; }, "272 outputs"},
        Mistake{"FirstInputs", [](Network& n) { n.convolutions[0].inputs = 16; }, "16 inputs"},
        Mistake{"LaterInputs", [](Network& n) { n.convolutions[1].inputs = 32; }, "32 inputs"},
        Mistake{"WeightLarge", [](Network& n) { n.convolutions[1].weights[7] = 65; },
                "a weight outside +-64"},
        Mistake{"WeightSmall", [](Network& n) { n.convolutions[0].weights[7] = -65; },
                "convolution 0 has a weight"},
        Mistake{"ScaleZero", [](Network& n) { n.convolutions[0].scale[3] = 0; }, "output 3"},
        Mistake{"ScaleNegative", [](Network& n) { n.convolutions[1].scale[31] = -1; }, "output 31"},
        Mistake{"ScaleNan", [](Network& n) { n.convolutions[0].scale[0] = static_cast<float>(kNan); },
                "scale"},
        Mistake{"ScaleInfinite",
                [](Network& n) { n.convolutions[0].scale[0] = static_cast<float>(kInfinity); },
                "scale"},
        Mistake{"SumLarge", [](Network& n) { n.convolutions[0].bias[2] = kMost; }, "output 2"},
        Mistake{"SumSmall", [](Network& n) { n.convolutions[1].bias[4] = -kMost; }, "output 4"},
        Mistake{"HeadShort", [](Network& n) { n.head.weights.pop_back(); },
                "959 weights"},
        Mistake{"HeadNone", [](Network& n) { n.head.weights.clear(); }, "0 weights"},
        Mistake{"HeadWeight", [](Network& n) { n.head.weights[1] = 65; }, "64"},
        Mistake{"HeadSum", [](Network& n) { n.head.bias = kMost; }, "head"},
        Mistake{"HeadScaleZero", [](Network& n) { n.head.scale = 0; }, "head"},
        Mistake{"HeadScaleNan", [](Network& n) { n.head.scale = kNan; }, "head"},
        Mistake{"HeadScaleInfinite", [](Network& n) { n.head.scale = kInfinity; }, "head"},
        Mistake{"BoxesTwo", [](Network& n) { n.box.assign(2, n.head); }, "2 heads"},
        Mistake{"BoxShort", [](Network& n) { give_boxes(n); n.box[1].weights.pop_back(); },
                "head 1"},
        Mistake{"BoxWeight", [](Network& n) { give_boxes(n); n.box[2].weights[0] = -65; },
                "head 2"},
        Mistake{"BoxSum", [](Network& n) { give_boxes(n); n.box[0].bias = kMost; }, "head 0"},
        Mistake{"BoxScale", [](Network& n) { give_boxes(n); n.box[0].scale = -1; },
                "head 0"},
        Mistake{"HeadAlone", [](Network& n) { n.convolutions.clear(); }, "head"},
        Mistake{"TooMany", [](Network& n) { n.convolutions.resize(17, n.convolutions[1]); },
                "17 convolutions"},
        Mistake{"WindowEmpty", [](Network& n) { n.window.width = 0; }, "0x9"},
        Mistake{"WindowNegative", [](Network& n) { n.window.height = -9; }, "12x-9"},
        Mistake{"WindowLarge", [](Network& n) { n.window.height = 513; }, "12x513"},
        Mistake{"WindowOther", [](Network& n) { n.window.height = 11; }, "960 weights"},
        Mistake{"GateNan", [](Network& n) { n.first_stage_threshold = kNan; }, "threshold"},
        Mistake{"WeightNan", [](Network& n) { n.weight = kNan; }, "its weight"},
        Mistake{"WeightNegative", [](Network& n) { n.weight = -1; }, "its weight"},
        Mistake{"LimitNan", [](Network& n) { n.limit = kNan; }, "its limit"},
        Mistake{"LimitNegative", [](Network& n) { n.limit = -1; }, "its limit"},
        Mistake{"LimitInfinite", [](Network& n) { n.limit = kInfinity; }, "its limit"}),
    [](const auto& mistake) { return mistake.param.name; });

// To the unit: what fits, and one more that does not.
TEST(WhatIsWrongWithANetwork, SumsFitExactly) {
  Network network = eye({1, 1}, one_weight(16, 0, 64, kMost - 64 * 127, 1.0F), 0, 0);
  EXPECT_EQ(what_is_wrong(network), "");
  ++network.convolutions[0].bias[0];
  EXPECT_NE(what_is_wrong(network), "");
  network.convolutions[0].bias[0] = -kMost - 1 + 64 * 127;
  EXPECT_EQ(what_is_wrong(network), "");
  --network.convolutions[0].bias[0];
  EXPECT_NE(what_is_wrong(network), "");

  network.convolutions[0].bias[0] = 0;
  network.head.bias = kMost - 255;
  EXPECT_EQ(what_is_wrong(network), "");
  ++network.head.bias;
  EXPECT_NE(what_is_wrong(network), "");
  network.head.bias = -kMost - 1;
  EXPECT_EQ(what_is_wrong(network), "");
}

TEST(Network, AHeadHasBiasAndScale) {
  EXPECT_EQ((NetworkHead{{}, -10, 0.25}.value(4)), -1.5);
}

TEST(PackedNetwork, OfNoNetwork) {
  EXPECT_EQ(PackedNetwork(Network{}).layers().size(), 0U);
  EXPECT_EQ(PackedNetwork(Network{}).heads(), 0U);
}

}  // namespace
}  // namespace sightline::filterbank
