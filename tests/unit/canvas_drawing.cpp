// Canvas: what is drawn is in the PNG.
#include "drawing/canvas.hpp"

#include "support/media.hpp"

namespace sightline {
namespace {

using media::test::expect_error;
using media::test::TempDir;

struct Pixels {
  std::vector<std::uint8_t> rgb;
  Size size;
  std::array<int, 3> at(int x, int y) const {
    const std::size_t i = static_cast<std::size_t>(y * size.width + x) * 3;
    return {rgb[i], rgb[i + 1], rgb[i + 2]};
  }
};

Pixels pixels_of(const Canvas& canvas) {
  const TempDir dir;
  canvas.write_png(dir / "a.png");
  const Frame frame = *media::Reader(dir / "a.png").read();
  return {media::to_rgb(frame), frame.size()};
}

constexpr Color kWhite{1, 1, 1, 1};
constexpr Color kRed{1, 0, 0, 1};

TEST(Canvas, RectanglesAndLines) {
  Canvas canvas(60, 40, kWhite);
  canvas.fill_rectangle(10, 10, 5, 5, kRed);
  canvas.stroke_rectangle(30.5, 10.5, 9, 9, {0, 0, 1, 1});
  canvas.line(0, 30.5, 60, 30.5, {0, 1, 0, 1});
  const Pixels p = pixels_of(canvas);
  EXPECT_EQ(p.size, (Size{60, 40}));
  EXPECT_EQ(p.at(9, 10), (std::array{255, 255, 255}));
  EXPECT_EQ(p.at(10, 10), (std::array{255, 0, 0}));
  EXPECT_EQ(p.at(14, 14), (std::array{255, 0, 0}));
  EXPECT_EQ(p.at(15, 14), (std::array{255, 255, 255}));
  EXPECT_EQ(p.at(30, 15), (std::array{0, 0, 255}));
  EXPECT_EQ(p.at(35, 15), (std::array{255, 255, 255}));
  EXPECT_EQ(p.at(59, 30), (std::array{0, 255, 0}));
}

TEST(Canvas, Images) {
  Canvas canvas(60, 40, kWhite);
  const std::vector<std::uint8_t> gray{0, 100, 200, 50}, rgb{10, 20, 30};
  canvas.draw({gray.data(), 2, 2, 2}, 0, 0, 2, 2);
  canvas.draw_rgb(rgb.data(), {1, 1}, 20, 10, 20, 20);
  canvas.draw({gray.data() + 2, 2, 2, -2}, 4, 0, 2, 2);
  const Pixels p = pixels_of(canvas);
  EXPECT_EQ(p.at(1, 0), (std::array{100, 100, 100}));
  EXPECT_EQ(p.at(0, 1), (std::array{200, 200, 200}));
  EXPECT_EQ(p.at(4, 0), (std::array{200, 200, 200}));  // upside down
  EXPECT_EQ(p.at(20, 10), (std::array{10, 20, 30}));
  EXPECT_EQ(p.at(39, 29), (std::array{10, 20, 30}));
  EXPECT_EQ(p.at(40, 29), (std::array{255, 255, 255}));
}

TEST(Canvas, Text) {
  Canvas canvas(200, 40, kWhite);
  const double width = canvas.text_width("Sightline", 20);
  EXPECT_GT(width, 60);
  EXPECT_LT(width, 120);
  EXPECT_GT(canvas.text_width("Sightline", 20, FontWeight::bold), width);
  canvas.text(190, 28, "Sightline", 20, {0, 0, 0, 1}, Align::right);
  const Pixels p = pixels_of(canvas);
  int left = 0, right = 0;
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 200; ++x) (x < 190 - width - 1 ? left : right) += p.at(x, y)[0] < 128;
  EXPECT_EQ(left, 0);
  EXPECT_GT(right, 150);
}

TEST(Canvas, BrokenUtf8DoesNotStopTheDrawing) {
  Canvas canvas(60, 40, kWhite);
  canvas.text(0, 20, "\xff\xc0\x80", 12, kRed);
  canvas.fill_rectangle(50, 30, 5, 5, kRed);
  EXPECT_EQ(pixels_of(canvas).at(52, 32), (std::array{255, 0, 0}));
}

TEST(Canvas, TextMask) {
  const TextMask mask = make_text_mask("person", 16);
  EXPECT_GT(mask.coverage.width(), 30);
  EXPECT_LT(mask.coverage.height(), 24);
  EXPECT_NEAR(mask.advance, mask.coverage.width(), 5);
  EXPECT_LT(mask.top, -8);
  const TextMask space = make_text_mask(" ", 16);
  EXPECT_EQ(space.coverage.width(), 0);
  EXPECT_GT(space.advance, 2);
}

TEST(Canvas, Errors) {
  const TempDir dir;
  expect_error(ExitCode::failed, "pixels", [] { Canvas(0, 10, kWhite); });
  expect_error(ExitCode::failed, "pixels", [] { Canvas(40000, 10, kWhite); });
  expect_error(ExitCode::failed, "/none/a.png",
               [&] { Canvas(10, 10, kWhite).write_png(dir / "none/a.png"); });
}

}  // namespace
}  // namespace sightline
