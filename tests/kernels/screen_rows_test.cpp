// Rows of video to rows of a screen: SIMD against scalar code, and against the formulas.
#include "image/screen_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "image/colour.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

using test::kCanary;

using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

class ScreenRows : public test::KernelTest {
 protected:
  /// Runs `body` for rows of many widths.
  template <typename Body>
  void for_widths(Body body) {
    for (const int width : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 640}) {
      SCOPED_TRACE(width);
      width_ = width;
      body();
    }
  }
  int width() const { return width_; }
  std::size_t size(int factor = 1) const { return static_cast<std::size_t>(width_ * factor); }

 private:
  int width_ = 0;
};
INSTANTIATE_TEST_SUITE_P(AllTargets, ScreenRows, ::testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

TEST_P(ScreenRows, YuvEqualsTheReference) {
  for_widths([&] {
    const Bytes y = noise(size(), 1), u = noise(size(), 2), v = noise(size(), 3);
    for (const bool bt709 : {false, true})
      for (const bool full : {false, true}) {
        Bytes fast(size(4) + 16, kCanary), slow(size(4) + 16, kCanary);
        yuv_to_bgra(y.data(), u.data(), v.data(), width(), yuv_weights(bt709, full), fast.data());
        yuv_to_bgra_reference(y.data(), u.data(), v.data(), width(), yuv_weights(bt709, full), slow.data());
        EXPECT_EQ(fast, slow);
      }
  });
}

TEST_P(ScreenRows, MixesAndHalves) {
  for_widths([&] {
    const Bytes a = noise(size(2), 4), b = noise(size(2), 5);
    for (const int weight : {0, 1, 50, 64, 127, 128}) {
      Bytes out(size() + 16, kCanary);
      mix_rows(a.data(), b.data(), weight, width(), out.data());
      for (std::size_t i = 0; i < size(); ++i)
        ASSERT_NEAR(out[i], a[i] + (b[i] - a[i]) * weight / 128.0, 0.51) << weight;
      EXPECT_TRUE(std::all_of(out.begin() + width(), out.end(), [](int c) { return c == kCanary; }));
    }
    Bytes half(size() + 16, kCanary);
    halve_rows(a.data(), b.data(), width(), half.data());
    for (std::size_t x = 0; x < size(); ++x)
      ASSERT_EQ(half[x], (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) / 4);
    EXPECT_TRUE(std::all_of(half.begin() + width(), half.end(), [](int c) { return c == kCanary; }));
  });
}

TEST_P(ScreenRows, SamplesColumns) {
  for_widths([&] {
    if (width() == 0) return;
    for (const int to : {1, 5, 8, 63, 64, 400, 1000}) {
      const double ratio = static_cast<double>(width()) / to;
      const Columns columns(width(), to, ratio);
      Bytes row = noise(size(4) + Columns::kSlack, 6), out(static_cast<std::size_t>(4 * to) + 16, kCanary);
      const auto exact = [&](int x, int step, int channel) {
        const double at = std::clamp((x + 0.5) * ratio - 0.5, 0.0, width() - 1.0);
        const int left = static_cast<int>(at), right = std::min(left + 1, width() - 1);
        const double a = row[static_cast<std::size_t>(left * step + channel)],
                     b = row[static_cast<std::size_t>(right * step + channel)];
        return a + (b - a) * (at - left);
      };
      mix_columns(row.data(), columns, out.data());
      for (int x = 0; x < to; ++x)
        ASSERT_NEAR(out[static_cast<std::size_t>(x)], exact(x, 1, 0), 1.6) << x << " of " << to;
      EXPECT_EQ(out[static_cast<std::size_t>(to)], kCanary);
      mix_columns_bgra(row.data(), columns, out.data());
      for (int x = 0; x < to; ++x)
        for (int c = 0; c < 4; ++c)
          ASSERT_NEAR(out[static_cast<std::size_t>(4 * x + c)], exact(x, 4, c), 1.6);
      EXPECT_EQ(out[static_cast<std::size_t>(4 * to)], kCanary);
    }
  });
}

TEST_P(ScreenRows, BlendsAColour) {
  for_widths([&] {
    for (const int alpha : {0, 1, 128, 197, 255, 256}) {
      const Bytes before = noise(size(4) + 16, 7);
      Bytes after = before;
      blend_color(after.data(), width(), 0x00123456u | 0xFF000000u, alpha);
      constexpr int kColor[] = {0x56, 0x34, 0x12, 0xFF};
      for (std::size_t i = 0; i < size(4); ++i)
        ASSERT_EQ(after[i], (before[i] * (256 - alpha) + kColor[i % 4] * alpha + 128) >> 8);
      EXPECT_TRUE(std::equal(after.begin() + 4 * width(), after.end(), before.begin() + 4 * width()));
    }
  });
}

TEST_P(ScreenRows, YuvIsTheFormulaForAllColours) {
  for (const bool bt709 : {false, true})
    for (const bool full : {false, true}) {
      const YuvWeights weights = yuv_weights(bt709, full);
      const double red = bt709 ? 0.2126 : 0.299, blue = bt709 ? 0.0722 : 0.114;
      int worst = 0;
      for (int u = 0; u < 256; u += 5)
        for (int v = 0; v < 256; v += 5) {
          Bytes ys(256), us(128, static_cast<std::uint8_t>(u)), vs(128, static_cast<std::uint8_t>(v)),
              bgra(1024);
          for (int y = 0; y < 256; ++y) ys[static_cast<std::size_t>(y)] = static_cast<std::uint8_t>(y);
          yuv_to_bgra(ys.data(), us.data(), vs.data(), 256, weights, bgra.data());
          for (int y = 0; y < 256; ++y) {
            const double luma = full ? y : (y - 16) * 255.0 / 219, scale = full ? 1 : 255.0 / 224;
            const double r = luma + 2 * (1 - red) * scale * (v - 128),
                         b = luma + 2 * (1 - blue) * scale * (u - 128);
            const double g = (luma - red * r - blue * b) / (1 - red - blue);
            const double exact[] = {b, g, r};
            for (std::size_t c = 0; c < 3; ++c)
              worst =
                  std::max(worst, std::abs(bgra[static_cast<std::size_t>(4 * y) + c] -
                                           static_cast<int>(std::lround(std::clamp(exact[c], 0.0, 255.0)))));
          }
        }
      EXPECT_LE(worst, 1) << bt709 << full;
    }
}

TEST(ScreenRow, PackedAndPairs) {
  const Bytes packed = noise(4 * 37, 8);
  for (const PackedFormat format :
       {PackedFormat::rgb24, PackedFormat::bgr24, PackedFormat::rgba, PackedFormat::bgra}) {
    Bytes bgra(4 * 37 + 1, 0xA5);
    packed_to_bgra(packed.data(), format, 37, bgra.data());
    for (std::size_t x = 0; x < 37; ++x) {
      const std::size_t from = x * static_cast<std::size_t>(bytes_per_pixel(format)),
                        red = static_cast<std::size_t>(red_byte(format));
      EXPECT_EQ(bgra[4 * x + 2], packed[from + red]);
      EXPECT_EQ(bgra[4 * x + 1], packed[from + 1]);
      EXPECT_EQ(bgra[4 * x], packed[from + 2 - red]);
    }
    EXPECT_EQ(bgra.back(), 0xA5);
  }
  Bytes first(20), second(20);
  split_pairs(packed.data(), 20, first.data(), second.data());
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(first[i], packed[2 * i]);
    EXPECT_EQ(second[i], packed[2 * i + 1]);
  }
}

}  // namespace
}  // namespace sightline
