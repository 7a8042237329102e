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

}  // namespace
}  // namespace sightline::nn
