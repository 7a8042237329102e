#include "blocks.hpp"
#include "kernels/kernel_test.hpp"
#include "network/cpu/sample.hpp"

namespace sightline::nn {
namespace {

KERNEL_TEST_SUITE(NetworkSampleKernel);

Taps made_taps(test::Numbers& numbers, int side, int count) {
  Taps taps;
  for (int i = 0; i < count; ++i) {
    taps.first.push_back(numbers(0, side - 1));
    taps.second.push_back(numbers(0, side - 1));
    taps.weight.push_back(i % 5 == 0 ? 0.0F : static_cast<float>(numbers.real()));
  }
  return taps;
}

TEST_P(NetworkSampleKernel, ResamplesAsTheReference) {
  test::Numbers numbers(3);
  for (const int channels : kAwkwardChannels) {
    for (const int width : kAwkwardPoints) {
      const int height = numbers(1, 4), out_height = numbers(1, 4), out_width = numbers(1, 40);
      const Resample node{made_taps(numbers, height, out_height), made_taps(numbers, width, out_width)};
      const Tensor x = made_odd({channels, height, width}, static_cast<std::uint32_t>(width));
      const Tensor wanted = run(node, {x});
      Blocks map(x, 1), out(channels, out_height, out_width);
      Tensor planes(DataType::f32, wanted.shape());
      for (int y = 0; y < out_height; ++y) {
        const auto at = static_cast<std::size_t>(y);
        const int upper = node.rows.first[at], lower = node.rows.second[at];
        ResampledRow row{nullptr,
                         nullptr,
                         node.rows.weight[at],
                         node.columns.first.data(),
                         node.columns.second.data(),
                         node.columns.weight.data(),
                         out_width};
        for (int b = 0; b < map.count(); ++b) {
          row.upper = map.row(b, upper);
          row.lower = map.row(b, lower);
          row.out = out.row(b, y);
          resample_row(row);
        }
        row.lanes = 1;
        for (int c = 0; c < channels; ++c) {
          row.upper = x.as<float>().data() + (c * height + upper) * width;
          row.lower = x.as<float>().data() + (c * height + lower) * width;
          row.out = planes.as<float>().data() + (c * out_height + y) * out_width;
          resample_row(row);
        }
      }
      EXPECT_TRUE(same(out.tensor(), wanted)) << text_of(x.shape());
      EXPECT_TRUE(same(planes, wanted)) << text_of(x.shape());
    }
  }
}

// Places of a padded axis, by the reference.
std::vector<std::int32_t> padded_places(Pad pad, int width) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int32_t>(i);
  pad.value = std::int32_t{-1};
  const Tensor padded = run(pad, {Tensor::vector(places)});
  return {padded.as<std::int32_t>().begin(), padded.as<std::int32_t>().end()};
}

TEST_P(NetworkSampleKernel, PadsAndRepeatsRows) {
  for (const int channels : kAwkwardChannels) {
    for (const int width : kAwkwardPoints) {
      for (const Padding mode : {Padding::constant, Padding::edge, Padding::reflect, Padding::wrap}) {
        const Tensor x = made_odd({channels, 1, width});
        const Pad pad{{0, 0, 3}, {0, 0, 40}, mode, -0.0F};
        const Tensor wanted = run(pad, {x});
        const std::vector<std::int32_t> places = padded_places({{3}, {40}, mode, {}}, width);
        Blocks map(x), out(channels, 1, width + 43);
        Tensor planes(DataType::f32, wanted.shape());
        for (int b = 0; b < map.count(); ++b)
          pick_points(map.row(b, 0), places, kBlock, -0.0F, out.row(b, 0));
        for (int c = 0; c < channels; ++c)
          pick_points(x.as<float>().data() + c * width, places, 1, -0.0F,
                      planes.as<float>().data() + c * (width + 43));
        EXPECT_TRUE(same(out.tensor(), wanted)) << text_of(x.shape());
        EXPECT_TRUE(same(planes, wanted)) << text_of(x.shape());
      }
    }
  }
}

TEST_P(NetworkSampleKernel, SamplesAsTheReference) {
  constexpr int kHeight = 5, kWidth = 7;
  for (const int channels : kAwkwardChannels) {
    for (int form = 0; form < 8; ++form) {
      const GridSample how{form % 2 == 1, form / 2 % 2 == 1, form / 4 == 1 ? Border::edge : Border::zeros};
      const Tensor x =
          form < 4 ? made({1, channels, kHeight, kWidth}) : made_odd({1, channels, kHeight, kWidth});
      Tensor grid = made({1, 1, 37, 2}, static_cast<std::uint32_t>(form));
      for (float& one : grid.as<float>()) one /= 7;  // some are outside
      grid.as<float>()[3] = kNan;
      grid.as<float>()[10] = kInfinity;
      const Tensor wanted = run(how, {x, grid});
      Blocks map(run(Reshape{{channels, kHeight, kWidth}}, {x}), 1), out(channels, 1, 37);
      Tensor planes(DataType::f32, wanted.shape());
      const auto samples = [&](const SampledMap& places) {
        std::vector<Sample> all;
        for (std::size_t i = 0; i < 37; ++i)
          all.push_back(sample_at(how, grid.as<float>().data() + 2 * i, places));
        return all;
      };
      const std::vector<Sample> in_blocks = samples({kHeight, kWidth, map.row_step(), kBlock}),
                                in_planes = samples({kHeight, kWidth, kWidth});
      for (int b = 0; b < map.count(); ++b)
        mix_samples(map.row(b, 0), in_blocks, kBlock, how.nearest, out.row(b, 0));
      for (int c = 0; c < channels; ++c)
        mix_samples(x.as<float>().data() + c * kHeight * kWidth, in_planes, 1, how.nearest,
                    planes.as<float>().data() + c * 37);
      EXPECT_TRUE(same(run(Reshape{wanted.shape()}, {out.tensor()}), wanted)) << channels << " " << form;
      EXPECT_TRUE(same(planes, wanted)) << channels << " " << form;
    }
  }
}

}  // namespace
}  // namespace sightline::nn
