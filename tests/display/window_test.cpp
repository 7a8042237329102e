// Pictures, boxes and keys of a window that nobody sees.
#include "display/window.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "display/geometry.hpp"
#include "display/screens.hpp"
#include "display_support.hpp"
#include "media/annotate.hpp"
#include "support/variable.hpp"

namespace sightline::display {
namespace {

using namespace test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct YuvCase {
  AVPixelFormat format;
  AVColorSpace matrix;
  AVColorRange range;
};

constexpr int kColors[][3] = {{16, 128, 128}, {235, 128, 128}, {81, 90, 240}, {145, 54, 34},
                              {41, 240, 110}, {180, 100, 150}, {0, 128, 128}, {255, 128, 128},
                              {128, 0, 255},  {60, 200, 20}};

TEST(DisplayWindow, YuvColoursAreThoseOfTheFormula) {
  HiddenWindow window({64, 48});
  for (const AVPixelFormat format :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P})
    for (const AVColorSpace matrix : {AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT709})
      for (const AVColorRange range : {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG})
        for (const auto& [y, u, v] : kColors) {
          const auto picture = make_picture(format, {64, 48});
          picture->colorspace = matrix;
          picture->color_range = range;
          fill_plane(*picture, 0, 64, 48, [&](int, int) { return y; });
          if (format == AV_PIX_FMT_NV12) {
            fill_plane(*picture, 1, 64, 24, [&](int x, int) { return x % 2 == 0 ? u : v; });
          } else {
            const int width = format == AV_PIX_FMT_YUV444P ? 64 : 32,
                      height = format == AV_PIX_FMT_YUV420P ? 24 : 48;
            fill_plane(*picture, 1, width, height, [&](int, int) { return u; });
            fill_plane(*picture, 2, width, height, [&](int, int) { return v; });
          }
          const Rgb wanted = exact_rgb(y, u, v, matrix == AVCOL_SPC_BT709, range == AVCOL_RANGE_JPEG);
          const Shown shown = window.show(to_frame(picture));
          for (const auto& [px, py] : {std::pair{0, 0}, {63, 0}, {31, 20}, {0, 47}, {63, 47}})
            ASSERT_LE(difference(shown.at(px, py), wanted), 3)
                << av_get_pix_fmt_name(format) << " matrix " << matrix << " range " << range << " y " << y
                << " u " << u << " v " << v << ": " << shown.at(px, py)[0] << " " << shown.at(px, py)[1]
                << " " << shown.at(px, py)[2];
        }
}

TEST(DisplayWindow, GrayOfBothRanges) {
  HiddenWindow window({65, 33});
  for (const AVColorRange range : {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG})
    for (const int level : {0, 16, 100, 235, 255}) {
      const auto picture = make_picture(AV_PIX_FMT_GRAY8, {65, 33});
      picture->color_range = range;
      fill_plane(*picture, 0, 65, 33, [&](int, int) { return level; });
      const Rgb wanted = exact_rgb(level, 128, 128, false, range == AVCOL_RANGE_JPEG);
      const Shown shown = window.show(to_frame(picture));
      EXPECT_LE(difference(shown.at(64, 32), wanted), 1) << level;
      EXPECT_LE(difference(shown.at(3, 5), wanted), 1) << level;
    }
}

TEST(DisplayWindow, PackedColourIsShownAsItIs) {
  HiddenWindow window({31, 17});
  struct Packed {
    AVPixelFormat format;
    int step, red, blue;
  };
  for (const Packed& p : {Packed{AV_PIX_FMT_RGB24, 3, 0, 2}, Packed{AV_PIX_FMT_BGR24, 3, 2, 0},
                          Packed{AV_PIX_FMT_RGBA, 4, 0, 2}, Packed{AV_PIX_FMT_BGRA, 4, 2, 0},
                          Packed{AV_PIX_FMT_RGB0, 4, 0, 2}, Packed{AV_PIX_FMT_BGR0, 4, 2, 0}}) {
    const auto picture = make_picture(p.format, {31, 17});
    fill_plane(*picture, 0, 31 * p.step, 17, [&](int i, int y) {
      const int x = i / p.step, byte = i % p.step;
      return byte == p.red ? 8 * x : byte == p.blue ? 255 - 8 * x : byte == 1 ? 15 * y : 7;
    });
    const Shown shown = window.show(to_frame(picture));
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 31; ++x)
        ASSERT_EQ(shown.at(x, y), (Rgb{8 * x, 15 * y, 255 - 8 * x})) << av_get_pix_fmt_name(p.format);
  }
}

TEST(DisplayWindow, BottomUpPicturesStandUpright) {
  for (const AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV420P}) {
    HiddenWindow window({32, 16});
    const auto picture = make_picture(format, {32, 16});
    picture->color_range = AVCOL_RANGE_JPEG;
    const int planes = format == AV_PIX_FMT_YUV420P ? 3 : 1;
    fill_plane(*picture, 0, format == AV_PIX_FMT_RGB24 ? 96 : 32, 16, [](int, int y) { return 10 * y; });
    for (int p = 1; p < planes; ++p) fill_plane(*picture, p, 16, 8, [](int, int) { return 128; });
    for (int p = 0; p < planes; ++p) {
      picture->data[p] += (p > 0 ? 7 : 15) * picture->linesize[p];
      picture->linesize[p] = -picture->linesize[p];
    }
    const Shown shown = window.show(to_frame(picture));
    for (int y = 0; y < 16; ++y)
      ASSERT_LE(difference(shown.at(5, y), {10 * (15 - y), 10 * (15 - y), 10 * (15 - y)}), 1)
          << av_get_pix_fmt_name(format) << " " << y;
  }
}

TEST(DisplayWindow, KeepsThePicturesShape) {
  HiddenWindow window({200, 100});
  const Rgb white{255, 255, 255}, around{kSurround.red, kSurround.green, kSurround.blue};
  const auto expect_at = [&](const Shown& shown, const Rect& place) {
    const auto check = [&](int x, int y, const Rgb& wanted) {
      if (x < 0 || y < 0 || x >= shown.size.width || y >= shown.size.height) return;
      EXPECT_LE(difference(shown.at(x, y), wanted), 1) << x << " " << y;
    };
    for (const auto& [x, y] : {std::pair{place.x, place.y}, {place.right() - 1, place.bottom() - 1}})
      check(x, y, white);
    check(place.x - 1, place.y, around);
    check(place.x, place.y - 1, around);
    check(place.right(), place.bottom() - 1, around);
    check(place.right() - 1, place.bottom(), around);
  };
  expect_at(window.show(flat_frame({50, 50}, 235)), {50, 0, 100, 100});
  window.resize({100, 300});
  expect_at(window.shown(), {0, 100, 100, 100});
  expect_at(window.show(flat_frame({100, 300}, 235)), {0, 0, 100, 300});
  expect_at(window.show(flat_frame({320, 90}, 235)), {0, 136, 100, 28});
}

TEST(DisplayWindow, PixelsThatAreNotSquare) {
  EXPECT_EQ(place_picture({720, 576}, 16.0 / 15, {768, 576}), (Rect{0, 0, 768, 576}));
  EXPECT_EQ(place_picture({100, 100}, 2, {100, 100}), (Rect{0, 25, 100, 50}));
  EXPECT_EQ(place_picture({100, 100}, -1, {100, 100}), (Rect{0, 0, 100, 100}));
  EXPECT_EQ(place_picture({10000, 1}, 1, {100, 100}), (Rect{0, 49, 100, 1}));
  const auto own = make_picture(AV_PIX_FMT_GRAY8, {100, 100});
  own->sample_aspect_ratio = {1, 2};
  fill_plane(*own, 0, 100, 100, [](int, int) { return 255; });
  HiddenWindow window({100, 100}, {2, 1});
  const Shown narrow = window.show(to_frame(own));  // its own comes before the window's
  EXPECT_EQ(narrow.at(24, 50)[0], kSurround.red);
  EXPECT_EQ(narrow.at(25, 50)[0], 255);
  const Shown wide = window.show(flat_frame({100, 100}, 235));
  EXPECT_EQ(wide.at(50, 24)[0], kSurround.red);
  EXPECT_GE(wide.at(50, 25)[0], 254);
}

TEST(DisplayTiles, FillTheOutputWithoutOverlap) {
  EXPECT_EQ(tile_places(1, {320, 200}, 3), (std::vector<Rect>{{0, 0, 320, 200}}));
  EXPECT_EQ(tile_places(2, {320, 90}, 4), (std::vector<Rect>{{0, 0, 158, 90}, {162, 0, 158, 90}}));
  EXPECT_EQ(tile_grid(4, {1920, 1080}), (Size{2, 2}));
  EXPECT_EQ(tile_grid(3, {300, 1000}), (Size{1, 3}));
  for (const Size output : {Size{1920, 1080}, Size{333, 777}, Size{40, 3}, Size{1, 1}})
    for (std::size_t count = 1; count <= 20; ++count) {
      const std::vector<Rect> places = tile_places(count, output, 3);
      ASSERT_EQ(places.size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(intersection(places[i], {0, 0, output.width, output.height}).width, places[i].width);
        for (std::size_t k = 0; k < i; ++k) ASSERT_TRUE(intersection(places[i], places[k]).empty());
      }
    }
}

TEST(DisplayTiles, EachShowsItsSource) {
  HiddenWindow window({323, 183});  // two by two of 160x90
  const auto tile = [](int level) { return Tile{flat_frame({160, 90}, level), nothing()}; };
  const auto level_at = [](const Shown& shown, int x, int y) { return shown.at(x, y)[1]; };
  window->present({tile(235), tile(126), Tile{{}, nothing()}, tile(70)}, 3);
  Shown shown = window.shown();
  EXPECT_GE(level_at(shown, 80, 45), 254);
  EXPECT_NEAR(level_at(shown, 240, 45), 128, 3);
  EXPECT_EQ(level_at(shown, 80, 140), kSurround.green);  // nothing yet
  EXPECT_NEAR(level_at(shown, 240, 140), 63, 3);
  EXPECT_EQ(level_at(shown, 161, 45), kSurround.green);
  EXPECT_GT(level_at(shown, 164, 140), 200);  // the frame of the chosen one

  // The third gets a picture, and the first is lost.
  Tile lost = tile(235);
  lost.overlay.state = "reopening";
  lost.overlay.state_kind = StateKind::waiting;
  window->present({lost, tile(126), tile(200), tile(70)}, 0);
  shown = window.shown();
  EXPECT_LT(level_at(shown, 80, 70), 140);
  EXPECT_NEAR(level_at(shown, 240, 45), 128, 3);
  EXPECT_NEAR(level_at(shown, 80, 140), 214, 3);
  EXPECT_NEAR(level_at(shown, 240, 140), 63, 3);

  window->present({tile(70)}, 0);  // alone
  shown = window.shown();
  for (const int x : {2, 161, 320}) EXPECT_NEAR(level_at(shown, x, 100), 63, 3);
}

TEST(DisplayTiles, AreChosenByTheMouse) {
  HiddenWindow window({323, 183});
  const auto click = [](int x, int y) {
    SDL_Event event{};
    event.type = SDL_MOUSEBUTTONDOWN;
    event.button.button = SDL_BUTTON_LEFT;
    event.button.clicks = 1;
    event.button.x = x;
    event.button.y = y;
    ASSERT_EQ(SDL_PushEvent(&event), 1);
  };
  const Tile tile{flat_frame({160, 90}, 100), nothing()};
  window->present({tile, tile, tile}, 0);
  click(240, 20);
  EXPECT_EQ(window->poll(), Command::choose_tile);
  EXPECT_EQ(window->clicked_tile(), 1u);
  click(240, 150);  // nothing there
  EXPECT_EQ(window->poll(), std::nullopt);
  window->present({tile}, 0);
  click(240, 20);
  EXPECT_EQ(window->poll(), std::nullopt);
}

// Everything there can be, at any size: no crash, and nothing beside the tile.
TEST(DisplayTiles, CaptionsStayWithin) {
  TextCache text;
  for (const Size output : {Size{1920, 1080}, Size{320, 200}, Size{60, 300}, Size{9, 9}})
    for (const Rect& place : tile_places(5, output, 3)) {
      Scene scene;
      add_tile(scene, text, everything(), output, place, true);
      for (const auto& item : scene) {
        const Rect r =
            std::holds_alternative<Fill>(item) ? std::get<Fill>(item).rect : std::get<Words>(item).bounds;
        EXPECT_EQ(intersection(r, place), r);
      }
    }
}

TEST(DisplayWindow, OddSizesAndChangesOfSize) {
  HiddenWindow window({97, 61});
  int number = 0;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{1, 9}, Size{64, 1}, Size{97, 61}, Size{640, 480},
                          Size{2, 2}, Size{1921, 1081}, Size{333, 777}}) {
    const int level = 40 + 20 * ++number;
    const Shown shown = window.show(flat_frame(size, level, 90, 170, number));
    const Rect place = place_picture(size, 1, {97, 61});
    const Rgb wanted = exact_rgb(level, 90, 170, false, false);
    for (int y = place.y; y < place.bottom(); ++y)
      for (int x = place.x; x < place.right(); ++x)
        ASSERT_LE(difference(shown.at(x, y), wanted), 3)
            << size.width << "x" << size.height << " at " << x << " " << y;
  }
}

TEST(DisplayWindow, ScaledPicturesAreWhereTheyWere) {
  // A ramp is the same ramp at any size.
  for (const Size output :
       {Size{320, 240}, Size{200, 150}, Size{640, 480}, Size{80, 60}, Size{33, 25}, Size{1000, 750}}) {
    const auto picture = make_picture(AV_PIX_FMT_YUV420P, {320, 240});
    picture->color_range = AVCOL_RANGE_JPEG;
    picture->colorspace = AVCOL_SPC_SMPTE170M;
    fill_plane(*picture, 0, 320, 240, [](int x, int y) { return (x + y) * 255 / 558; });
    fill_plane(*picture, 1, 160, 120, [](int, int y) { return 88 + y * 80 / 119; });
    fill_plane(*picture, 2, 160, 120, [](int x, int) { return 88 + x * 80 / 159; });
    HiddenWindow window(output);
    const Shown shown = window.show(to_frame(picture));
    ASSERT_EQ(shown.size, output);
    for (int y = 0; y < output.height; y += 3)
      for (int x = 0; x < output.width; x += 3) {
        const double px = (x + 0.5) * 320 / output.width - 0.5, py = (y + 0.5) * 240 / output.height - 0.5;
        const Rgb wanted =
            exact_rgb(static_cast<int>((px + py) * 255 / 558), static_cast<int>(88 + py * 40 / 119),
                      static_cast<int>(88 + px * 40 / 159), false, true);
        ASSERT_LE(difference(shown.at(x, y), wanted), 6) << output.width << " at " << x << " " << y;
      }
  }
}

TEST(DisplayWindow, BoxesAreWhereTheObjectsAre) {
  HiddenWindow window({400, 300});
  const Frame frame = flat_frame({800, 600}, 60);
  Overlay overlay = nothing();
  overlay.labels = {"person"};
  overlay.objects = {{{200, 300, 100, 200}, 1.5, 0}};
  const Color color = media::label_color(0);
  const Rgb green{static_cast<int>(std::lround(color.red * 255)),
                  static_cast<int>(std::lround(color.green * 255)),
                  static_cast<int>(std::lround(color.blue * 255))};
  const Shown shown = window.show(frame, overlay);
  for (const auto& [x, y] : {std::pair{100, 200}, {149, 200}, {100, 249}, {149, 249}, {125, 150}, {125, 249}})
    EXPECT_LE(difference(shown.at(x, y), green), 1) << x << " " << y;
  const Rgb ground = exact_rgb(60, 128, 128, false, false);
  for (const auto& [x, y] : {std::pair{97, 200}, {152, 200}, {125, 200}, {125, 252}})
    EXPECT_LE(difference(shown.at(x, y), ground), 2) << x << " " << y;
  EXPECT_LE(difference(shown.at(101, 149 - 5), green), 40) << "the caption's tag";
  // In the bars beside the picture there is nothing.
  window.resize({500, 300});
  overlay.objects = {{{-500, 100, 5000, 400}, 1.5, 0}};
  const Shown wide = window.show(frame, overlay);
  for (int y = 0; y < 300; ++y)
    ASSERT_EQ(wide.at(49, y), (Rgb{kSurround.red, kSurround.green, kSurround.blue})) << y;
}

TEST(DisplayWindow, StaleAndHiddenBoxes) {
  HiddenWindow window({400, 300});
  const Frame frame = flat_frame({400, 300}, 60);
  const Shown plain = window.show(frame);
  Overlay overlay = nothing();
  overlay.objects = {{{100, 100, 200, 150}, 1.5, 0}};
  const auto changed = [&](const Shown& shown) {
    int count = 0;
    for (int y = 140; y < 300; ++y)
      for (int x = 0; x < 400; ++x) count += difference(shown.at(x, y), plain.at(x, y)) > 8;
    return count;
  };
  const int fresh = changed(window.show(frame, overlay));
  overlay.stale = true;
  const int stale = changed(window.show(frame, overlay));
  overlay.show_boxes = false;
  EXPECT_GT(fresh, 500);
  EXPECT_GT(stale, fresh / 5);
  EXPECT_LT(stale, fresh * 2 / 3);
  EXPECT_EQ(changed(window.show(frame, overlay)), 0);
}

TEST(DisplayWindow, BoxesThatCannotBeDrawn) {
  HiddenWindow window({200, 150});
  const Frame frame = flat_frame({200, 150}, 60);
  const Shown plain = window.show(frame);
  const double nan = std::nan(""), infinity = HUGE_VAL;
  Overlay overlay = nothing();
  overlay.objects = {{{nan, 0, 1, 1}, 1, 0}, {{0, 0, infinity, 5}, 1, 0}, {{5, 5, 0, 5}, 1, 0},
                     {{5, 5, 5, -5}, 1, 0},  {{1e9, 5, 5, 5}, 1, 0},      {{-100, -100, 50, 50}, 1, 0}};
  EXPECT_EQ(window.show(frame, overlay).rgb, plain.rgb);
  overlay.objects = {{{-1e300, -1e300, 2e300, 2e300}, infinity, -5, 1LL << 62}};
  overlay.stale = true;
  window.show(frame, overlay);
}

TEST(DisplayWindow, AFrameIsTakenOnceAndSizesMayChange) {
  HiddenWindow window({64, 48});
  const Frame first = flat_frame({64, 48}, 100), second = flat_frame({64, 48}, 200);
  EXPECT_LE(difference(window.show(first).at(5, 5), exact_rgb(100, 128, 128, false, false)), 1);
  EXPECT_LE(difference(window.show(second).at(5, 5), exact_rgb(200, 128, 128, false, false)), 1);
  EXPECT_LE(difference(window.show(first).at(5, 5), exact_rgb(100, 128, 128, false, false)), 1);
  EXPECT_EQ(window.show(Frame()).at(5, 5), (Rgb{kSurround.red, kSurround.green, kSurround.blue}));
  EXPECT_LE(difference(window.show(second).at(5, 5), exact_rgb(200, 128, 128, false, false)), 1);
}

// SDL's renderers, which drive a graphics card where there is one; their picture must be that of our own
// drawing.
class DisplayRenderers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Drivers, DisplayRenderers, ::testing::Values("dummy", "x11"));

TEST_P(DisplayRenderers, ShowWhatOurOwnDrawingShows) {
  setenv("SDL_VIDEODRIVER", GetParam(), 1);
  if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    GTEST_SKIP() << "no display: " << SDL_GetError();
  }
  {
    const Size size{480, 360};
    const Rect place{0, 0, size.width, size.height};
    const WindowPtr window(SDL_CreateWindow("test", 0, 0, size.width, size.height, SDL_WINDOW_HIDDEN));
    TextCache cards_text, own_text;
    const auto card = make_renderer_screen(window.get(), cards_text, false, false);
    ASSERT_NE(card, nullptr);
    std::printf("renderer: %s\n", card->name().c_str());
    Overlay overlay = everything();
    Scene scene;
    add_boxes(scene, own_text, overlay, size, place);
    add_panels(scene, own_text, overlay, size);
    std::vector<std::uint32_t> memory(480 * 360);
    const Pixels pixels{reinterpret_cast<std::uint8_t*>(memory.data()), size, 480 * 4};
    for (const AVPixelFormat format :
         {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NV12, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24,
          AV_PIX_FMT_BGR24, AV_PIX_FMT_RGBA, AV_PIX_FMT_BGRA})
      for (const AVColorSpace matrix : {AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT709}) {
        const auto picture = make_picture(format, size);
        picture->colorspace = matrix;
        for (int p = 0; p < 3 && picture->data[p]; ++p)
          fill_plane(*picture, p, picture->linesize[p], p == 0 ? 360 : 180,
                     [&](int x, int y) { return 70 + x / 20 + y / 8 + 20 * p; });
        const Frame frame = to_frame(picture);
        media::PlaneStore store;
        const media::DisplayPlanes planes = media::planes_of(frame, store);
        card->draw({{{&planes, true, place}}, &scene});
        const std::vector<std::uint8_t> shown = card->read();
        card->show();
        PictureScaler().draw(planes, place, pixels);
        paint(scene, own_text, pixels);
        std::size_t far = 0;
        for (std::size_t i = 0; i < memory.size(); ++i) {
          const Rgb own{static_cast<int>(memory[i] >> 16 & 255), static_cast<int>(memory[i] >> 8 & 255),
                        static_cast<int>(memory[i] & 255)};
          far += difference(own, {shown[3 * i], shown[3 * i + 1], shown[3 * i + 2]}) > 6;
        }
        EXPECT_EQ(far, 0u) << av_get_pix_fmt_name(format) << " matrix " << matrix;
      }
    EXPECT_GT(cards_text.runs(), 10u);
  }
  SDL_QuitSubSystem(SDL_INIT_VIDEO);
  setenv("SDL_VIDEODRIVER", "dummy", 1);
}

TEST(DisplayWindow, TheProcessorIsNoGraphicsCard) {
  setenv("SDL_VIDEODRIVER", "dummy", 1);
  ASSERT_EQ(SDL_InitSubSystem(SDL_INIT_VIDEO), 0);
  {
    const WindowPtr window(SDL_CreateWindow("test", 0, 0, 64, 48, SDL_WINDOW_HIDDEN));
    TextCache text;
    EXPECT_EQ(make_renderer_screen(window.get(), text, true, false), nullptr);
  }
  SDL_QuitSubSystem(SDL_INIT_VIDEO);
  for (const char* name : {"llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "Software Rasterizer",
                           "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))"})
    EXPECT_TRUE(computes_on_processor(name)) << name;
  for (const char* name :
       {"Mesa Intel(R) UHD Graphics 620 (KBL GT2)", "NVIDIA GeForce RTX 3060/PCIe/SSE2", ""})
    EXPECT_FALSE(computes_on_processor(name)) << name;
}

void press(SDL_Keycode code, Uint16 modifiers = 0, bool is_repeat = false,
           SDL_Scancode place = SDL_SCANCODE_UNKNOWN) {
  SDL_Event event{};
  event.type = SDL_KEYDOWN;
  event.key.state = SDL_PRESSED;
  event.key.repeat = is_repeat;
  event.key.keysym.sym = code;
  event.key.keysym.scancode = place;
  event.key.keysym.mod = modifiers;
  ASSERT_EQ(SDL_PushEvent(&event), 1);
}

TEST(DisplayKeys, EachCommands) {
  HiddenWindow window({64, 48});
  const std::pair<SDL_Keycode, Command> wanted[] = {{SDLK_SPACE, Command::pause},
                                                    {SDLK_s, Command::step},
                                                    {SDLK_d, Command::drop_policy},
                                                    {SDLK_o, Command::overlay},
                                                    {SDLK_h, Command::help},
                                                    {SDLK_p, Command::save_picture},
                                                    {SDLK_r, Command::record},
                                                    {SDLK_f, Command::full_screen},
                                                    {SDLK_TAB, Command::next_tile},
                                                    {SDLK_RETURN, Command::enlarge_tile},
                                                    {SDLK_KP_ENTER, Command::enlarge_tile},
                                                    {SDLK_1, Command::schedule_1},
                                                    {SDLK_2, Command::schedule_2},
                                                    {SDLK_3, Command::schedule_3},
                                                    {SDLK_4, Command::schedule_4},
                                                    {SDLK_5, Command::schedule_5},
                                                    {SDLK_6, Command::schedule_6},
                                                    {SDLK_KP_6, Command::schedule_6},
                                                    {SDLK_PLUS, Command::more_accurate},
                                                    {SDLK_EQUALS, Command::more_accurate},
                                                    {SDLK_KP_PLUS, Command::more_accurate},
                                                    {SDLK_MINUS, Command::faster},
                                                    {SDLK_KP_MINUS, Command::faster},
                                                    {SDLK_a, Command::follow_policy},
                                                    {SDLK_q, Command::quit},
                                                    {SDLK_ESCAPE, Command::quit}};
  std::set<Command> seen{Command::choose_tile};  // by the mouse
  for (const auto& [code, command] : wanted) {
    press(code);
    EXPECT_EQ(window->poll(), command) << SDL_GetKeyName(code);
    EXPECT_EQ(window->poll(), std::nullopt);
    seen.insert(command);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Command::quit) + 1) << "a command without a key";
  for (const SDL_Keycode code : {SDLK_x, SDLK_7, SDLK_0, SDLK_F1, SDLK_LSHIFT}) {
    press(code);
    EXPECT_EQ(window->poll(), std::nullopt) << SDL_GetKeyName(code);
  }
  // Where digits need Shift.
  press('&', 0, false, SDL_SCANCODE_1);
  EXPECT_EQ(window->poll(), Command::schedule_1);
}

TEST(DisplayKeys, HeldAndModifiedKeys) {
  HiddenWindow window({64, 48});
  for (const Key& key : keys()) {
    press(key.code, 0, true);
    EXPECT_EQ(window->poll().has_value(), key.repeats) << key.code;
    press(key.code, KMOD_LCTRL);
    EXPECT_EQ(window->poll(), std::nullopt) << key.code;
  }
  press(SDLK_s, KMOD_CAPS | KMOD_NUM);
  EXPECT_EQ(window->poll(), Command::step);
}

TEST(DisplayKeys, TheHelpSpeaksOfEach) {
  std::string all;
  for (const HelpLine& line : help_lines()) {
    EXPECT_FALSE(line.text.empty());
    all += std::string(line.keys) + ", ";
  }
  for (const Key& key : keys()) {
    const std::string name = key.code == ' '                      ? "space"
                             : key.code == 27                     ? "Esc"
                             : key.code == '\t'                   ? "Tab"
                             : key.code == '\r'                   ? "Enter"
                             : key.code >= '1' && key.code <= '6' ? "1\u20136"
                                                                  : std::string(1, key.code);
    EXPECT_NE(all.find(name + ","), std::string::npos) << name;
  }
  EXPECT_EQ(schedule_index(Command::schedule_1), 0);
  EXPECT_EQ(schedule_index(Command::schedule_6), 5);
  EXPECT_EQ(schedule_index(Command::quit), std::nullopt);
  EXPECT_EQ(schedule_index(Command::full_screen), std::nullopt);
}

TEST(DisplayEvents, CloseDoubleClickAndResize) {
  HiddenWindow window({320, 240});
  SDL_Event event{};
  event.type = SDL_WINDOWEVENT;
  event.window.event = SDL_WINDOWEVENT_CLOSE;
  SDL_PushEvent(&event);
  EXPECT_EQ(window->poll(), Command::quit);
  for (const bool on : {true, false}) {
    event = {};
    event.type = SDL_MOUSEBUTTONDOWN;
    event.button.button = SDL_BUTTON_LEFT;
    event.button.clicks = 2;
    SDL_PushEvent(&event);
    EXPECT_EQ(window->poll(), Command::full_screen);
    EXPECT_EQ(window->is_full_screen(), on);
    window.drain();
  }
  window.show(flat_frame({320, 240}, 100));
  window.resize(
      {200, 200});  // redrawn while events are taken, which the dummy driver does not show: no crash
  EXPECT_EQ(window->output_size(), (Size{200, 200}));
}

TEST(DisplayEvents, WaitingEnds) {
  HiddenWindow window({64, 48});
  window.drain();
  auto begin = steady_clock::now();
  EXPECT_EQ(window->wait(milliseconds(60)), std::nullopt);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(55));
  begin = steady_clock::now();
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(30));
    for (int i = 0; i < 100'000; ++i) window->wake();  // no more than one is on its way
  });
  EXPECT_EQ(window->wait(milliseconds(20'000)), std::nullopt);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000));
  waker.join();
  window.drain();
  EXPECT_EQ(window->wait(milliseconds(0)), std::nullopt);
  begin = steady_clock::now();
  window->wake();
  window.drain();
  EXPECT_EQ(window->wait(milliseconds(20'000)), std::nullopt);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000)) << "a wake between waits ends the next";
  begin = steady_clock::now();
  EXPECT_EQ(window->wait(milliseconds(60)), std::nullopt);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(55)) << "only that";
  press(SDLK_q);
  EXPECT_EQ(window->wait(milliseconds(20'000)), Command::quit);
}

TEST(DisplayWindow, WithoutADisplaySaysWhatToDo) {
  // With none at all SDL would fall back to a driver that shows nothing.
  using Value = std::optional<std::string>;
  for (const Value& driver : {Value("x11"), Value()}) {
    const sightline::test::Variable video("SDL_VIDEODRIVER", driver),
        display("DISPLAY", driver ? Value(":9999") : Value()), wayland("WAYLAND_DISPLAY", {}),
        runtime("XDG_RUNTIME_DIR", "/nonexistent");
    try {
      Window window("test", {64, 48});
      if (!driver && std::string(SDL_GetCurrentVideoDriver()) == "KMSDRM")
        GTEST_SKIP() << "a screen without X11";
      ADD_FAILURE() << "no error with " << SDL_GetCurrentVideoDriver();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::failed);
      EXPECT_NE(std::string(error.what()).find("--headless"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace sightline::display
