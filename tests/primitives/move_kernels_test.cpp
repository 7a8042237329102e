#include <cstring>

#include "laid_channels.hpp"
#include "network/cpu/move.hpp"

namespace sightline::nn {
namespace {

KERNEL_TEST_SUITE(NetworkMoveKernel);

TEST_P(NetworkMoveKernel, CopiesChannelsBetweenAllLayouts) {
  for (const int channels : kAwkwardChannels) {
    for (const int points : kAwkwardPoints) {
      const Tensor x = made_odd({channels, points}, static_cast<std::uint32_t>(points));
      for (const Lay from_lay : kLays) {
        LaidChannels from(from_lay, channels, points);
        from.fill(x);
        for (const Lay to_lay : kLays) {
          LaidChannels to(to_lay, channels, points), wanted(to_lay, channels, points);
          wanted.fill(x);
          copy_channels(from.channels(), to.writable_channels(), channels, points);
          // All that is not a channel is as it was.
          EXPECT_EQ(std::memcmp(to.memory.data(), wanted.memory.data(), to.memory.size() * sizeof(float)), 0)
              << channels << "x" << points << ": " << static_cast<int>(from_lay) << static_cast<int>(to_lay);
          EXPECT_TRUE(to.memory.untouched_outside(0, static_cast<std::ptrdiff_t>(to.memory.size())));
        }
      }
    }
  }
}

TEST_P(NetworkMoveKernel, FillsLanes) {
  for (const int points : kAwkwardPoints) {
    const Tensor x = made_odd({points});
    std::vector<float> block(static_cast<std::size_t>(points * 16), 1);
    clear_lanes(block.data(), 11, points);
    for (int i = 0; i < points * 16; ++i) EXPECT_EQ(block[static_cast<std::size_t>(i)], i % 16 < 11 ? 1 : 0);
    spread_points(x.as<float>().data(), points, block.data());
    const Tensor wanted = run(Expand{{points, 16}}, {run(Reshape{{points, 1}}, {x})});
    EXPECT_TRUE(same(Tensor::of({points, 16}, block), wanted));
  }
}

TEST_P(NetworkMoveKernel, PicksPointsAndLanes) {
  const std::vector<std::int32_t> points{32, 0, 16, 16, 80, 64};
  const Tensor x = made_odd({100});
  const auto value = [&](std::int32_t at) { return x.as<float>()[static_cast<std::size_t>(at)]; };
  std::vector<float> block(points.size() * 16, 1);
  pick_points(x.as<float>().data() + 4, points.data(), 6, block.data());
  for (std::int32_t i = 0; i < 96; ++i)
    EXPECT_EQ(Scalar(block[static_cast<std::size_t>(i)]),
              Scalar(value(4 + points[static_cast<std::size_t>(i / 16)] + i % 16)));
  std::array<std::int32_t, 16> places{}, keys{};
  for (std::int32_t lane = 0; lane < 16; ++lane) {
    places[static_cast<std::size_t>(lane)] = lane * 7 % 16;
    keys[static_cast<std::size_t>(lane)] = lane % 3;
  }
  std::ranges::fill(block, 1.0F);
  pick_lanes({x.as<float>().data(), points.data(), 5}, places.data(), keys.data(), 2, block.data());
  for (std::int32_t i = 0; i < 96; ++i) {
    const bool is_picked = i / 16 < 5 && i % 16 % 3 == 2;
    const float wanted = is_picked ? value(points[static_cast<std::size_t>(i / 16)] + i % 16 * 7 % 16) : 1;
    EXPECT_EQ(Scalar(block[static_cast<std::size_t>(i)]), Scalar(wanted)) << i;
  }
}

TEST_P(NetworkMoveKernel, PicksLanesOfFewFloats) {
  const std::vector<std::int32_t> points{2, 0, 7};
  std::array<std::int32_t, 16> places{}, keys{};
  for (std::size_t lane = 0; lane < 16; ++lane) places[lane] = lane % 2 == 0 ? 2 : 0;
  const AlignedBuffer<float> end = [] {  // nothing lies behind what may be read
    AlignedBuffer<float> floats;
    floats.resize(10);
    for (int i = 0; i < 10; ++i) floats.data()[i] = static_cast<float>(i);
    return floats;
  }();
  std::vector<float> block(48);
  pick_lanes({end.data(), points.data(), 3, 3}, places.data(), keys.data(), 0, block.data());
  for (std::size_t i = 0; i < 48; ++i)
    EXPECT_EQ(block[i], static_cast<float>(points[i / 16] + places[i % 16])) << i;
}

TEST_P(NetworkMoveKernel, CopiesViews) {
  const auto check = [](const Tensor& x, const Primitive& view) {
    const Shape shape = infer(view, std::array{x.type()}).at(0).shape;
    const View whole = View::of(0, x.shape());
    const View* const operands[] = {&whole};
    const nn::Run shown = view_of(view, operands, shape).value().runs.at(0);
    Tensor y(x.data(), shape);
    std::memset(y.bytes().data(), 1, y.bytes().size());
    copy_view(bytes_of(x.data()),
              x.bytes().data() + shown.offset * static_cast<std::int64_t>(bytes_of(x.data())), shown.axes,
              y.bytes().data(), strides_of(shape));
    EXPECT_TRUE(same(y, run(view, {x}))) << name_of(view) << text_of(x.type());
  };
  for_all_numbers([&]<typename T>() {
    const Tensor x = made<T>({3, 17, 5, 6});
    check(x, Reshape{{51, 30}});
    check(x, Transpose{{0, 2, 3, 1}});
    check(x, Transpose{{3, 1, 0, 2}});
    check(x, Slice{{1, 16, 0, 5}, {1, -3, 2, -1}, {2, 5, 3, 6}});
    check(made<T>({7, 1}), Expand{{4, 7, 5}});
    check(made<T>({40, 70}), Transpose{{1, 0}});
  });
  copy_view(8, nullptr, {{{3, 1}}, {{0, 1}}}, nullptr, {0, 1});  // of nothing
  // An axis with two factors, as a channel shuffle has, into a part of a larger tensor.
  const Tensor x = made_odd({4, 3, 2});
  std::vector<float> y(6 * 12, 1);
  copy_view(4, x.bytes().data(), {{{3, 2}, {4, 6}}, {{2, 1}}}, y.data() + 1, {6, 2});
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 6; ++k) {
      const float wanted = k == 1 || k == 3 ? at<float>(x, {i % 4, i / 4, k / 2}) : 1;
      EXPECT_EQ(Scalar(y[static_cast<std::size_t>(i * 6 + k)]), Scalar(wanted)) << i << " " << k;
    }
  }
}

}  // namespace
}  // namespace sightline::nn
