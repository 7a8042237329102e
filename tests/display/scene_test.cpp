// What is laid out over the picture, and the text that it is made of.
#include "display/scene.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "display_support.hpp"

namespace sightline::display {
namespace {

using namespace test;

Rect rect_of(const Scene::value_type& item) {
  const auto* fill = std::get_if<Fill>(&item);
  return fill ? fill->rect : std::get<Words>(item).bounds;
}

std::string words_of(const Scene& scene) {
  std::string all;
  for (const auto& item : scene)
    if (const auto* words = std::get_if<Words>(&item)) all += words->text + "|";
  return all;
}

std::string shown_words(const Overlay& overlay, Size output) {
  Scene scene;
  TextCache text;
  add_panels(scene, text, overlay, output);
  return words_of(scene);
}

TEST(DisplayPanels, StayWithinTheWindow) {
  TextCache text;
  for (const Size output : {Size{160, 120}, Size{120, 160}, Size{161, 600}, Size{320, 240}, Size{400, 900},
                            Size{640, 360}, Size{1280, 720}, Size{1920, 1080}, Size{1080, 1920},
                            Size{3840, 2160}, Size{2560, 200}, Size{1, 1}, Size{20, 20}})
    for (const HudMode mode : {HudMode::full, HudMode::compact, HudMode::off})
      for (const bool help : {true, false}) {
        Overlay overlay = everything();
        overlay.hud = mode;
        overlay.help = help;
        Scene scene;
        add_panels(scene, text, overlay, output);
        EXPECT_EQ(scene.empty(), output.width < 100);
        for (const auto& item : scene) {
          const Rect r = rect_of(item);
          ASSERT_TRUE(!r.empty() && r.x >= 0 && r.y >= 0 && r.right() <= output.width &&
                      r.bottom() <= output.height)
              << output.width << "x" << output.height << ": " << r.x << " " << r.y << " " << r.width << " "
              << r.height;
          // Nor is text cut off by the room that it is given.
          const auto* words = std::get_if<Words>(&item);
          if (!words) continue;
          const int end = words->x + text.width(words->text, words->font);
          ASSERT_TRUE(words->x >= r.x && end <= r.right() + 1) << words->text << " in " << output.width;
        }
      }
}

// A screen of twice the density shows the same window with twice the pixels.
TEST(DisplayPanels, GrowWithTheDensityOfTheScreen) {
  TextCache text;
  Overlay overlay = everything();
  overlay.hud = HudMode::compact;
  const auto sizes = [&](int density) {
    Scene scene;
    const Size output{400 * density, 300 * density};
    add_boxes(scene, text, overlay, {400, 300}, {0, 0, output.width, output.height}, density);
    add_panels(scene, text, overlay, output, density);
    std::vector<int> all;
    for (const auto& item : scene)
      if (const auto* words = std::get_if<Words>(&item)) all.push_back(words->font.size);
    return all;
  };
  const std::vector<int> once = sizes(1), twice = sizes(2);
  ASSERT_FALSE(once.empty());
  EXPECT_EQ(*std::ranges::min_element(twice), 2 * *std::ranges::min_element(once));
  EXPECT_EQ(*std::ranges::max_element(twice), 2 * *std::ranges::max_element(once));
}

TEST(DisplayPanels, SayWhatTheyAreFor) {
  Overlay overlay = everything();
  overlay.help = false;
  const std::string full = shown_words(overlay, {1920, 1080});
  for (const char* words :
       {"|in|", "30.0", "14.2", "latency", "38.2", "36.1", "newest", "hybrid", "REC", "1:02:05", "paused",
        "Connection refused", "stage number 3", "CPU", "saved", "last 500 ms"})
    EXPECT_NE(full.find(words), std::string::npos) << words << " in " << full;
  overlay.hud = HudMode::compact;
  const std::string compact = shown_words(overlay, {1920, 1080});
  for (const char* words : {"found", "14.2", "36.1"})
    EXPECT_NE(compact.find(words), std::string::npos) << words;
  EXPECT_EQ(compact.find("stage number"), std::string::npos);
  overlay.hud = HudMode::off;
  const std::string off = shown_words(overlay, {1920, 1080});
  EXPECT_EQ(off.find("38.2"), std::string::npos);
  EXPECT_NE(off.find("Connection refused"), std::string::npos) << "what is wrong is said all the same";
  overlay = nothing();
  EXPECT_EQ(shown_words(overlay, {1920, 1080}), "");
  overlay.help = true;
  const std::string help = shown_words(overlay, {1280, 720});
  for (const HelpLine& line : help_lines())
    EXPECT_NE(help.find(std::string(line.text)), std::string::npos) << line.text;
}

TEST(DisplayPanels, NumbersDoNotMoveTheirNeighbours) {
  const auto layout = [&](double rate, double latency, HudMode mode) {
    Overlay overlay = nothing();
    overlay.hud = mode;
    overlay.source = "camera";
    overlay.rates = {rate, rate / 2, rate};
    overlay.latency.now = latency;
    Scene scene;
    TextCache text;
    add_panels(scene, text, overlay, {1280, 720});
    std::vector<std::pair<int, int>> labels;
    for (const auto& item : scene)
      if (const auto* words = std::get_if<Words>(&item);
          words && words->text.find_first_of("0123456789") == std::string::npos)
        labels.emplace_back(words->x, words->baseline);
    return labels;
  };
  for (const HudMode mode : {HudMode::compact, HudMode::full}) {
    const auto calm = layout(29.9, 38.2, mode);
    EXPECT_GE(calm.size(), 5u);
    EXPECT_EQ(calm, layout(11.1, 111.1, mode));
    EXPECT_EQ(calm, layout(7.3, 4.0, mode));
  }
}

TEST(DisplayPanels, LanesShowOverlap) {
  Overlay overlay = nothing();
  overlay.hud = HudMode::full;
  overlay.processors = {"CPU"};
  overlay.lane_window = 100;
  overlay.lanes = {{"one", 0, {{0, 50, 1}, {25, 75, 2}}},
                   {"two", 0, {{-50, 25, 3}, {90, 500, 4}, {200, 300, 5}}}};
  Scene scene;
  TextCache text;
  add_panels(scene, text, overlay, {1280, 720});
  std::vector<Fill> bars;
  for (const auto& item : scene)
    if (const auto* fill = std::get_if<Fill>(&item); fill && fill->ink.alpha == 255) bars.push_back(*fill);
  ASSERT_EQ(bars.size(), 4u) << "two for each; what is out of the window is left out";
  EXPECT_TRUE(intersection(bars[0].rect, bars[1].rect).empty()) << "both can be seen";
  EXPECT_LT(bars[1].rect.x, bars[0].rect.right()) << "at the same time";
  EXPECT_NEAR(bars[0].rect.width, bars[1].rect.width, 1);
  EXPECT_NEAR(bars[2].rect.width, bars[0].rect.width / 2, 2) << "what began before is cut off";
  EXPECT_NE(std::tuple(bars[0].ink.red, bars[0].ink.green), std::tuple(bars[1].ink.red, bars[1].ink.green));
  const std::string words = words_of(scene);
  EXPECT_NE(words.find("75 %"), std::string::npos) << "overlap counts once: " << words;
  EXPECT_NE(words.find("35 %"), std::string::npos) << words;
}

TEST(DisplayText, TheCacheIsBounded) {
  TextCache text;
  for (int i = 0; i < 3000; ++i)
    text.width("word" + std::string(1, static_cast<char>('a' + i % 26)) +
                   std::string(1, static_cast<char>('a' + i / 26 % 26)) +
                   std::string(1, static_cast<char>('a' + i / 676)),
               {12, false});
  EXPECT_LE(text.runs(), TextCache::kMaxRuns);
  EXPECT_GT(text.runs(), 100u);
  for (int size = 50; size < 150; ++size) text.width("largewords", {size, true});
  EXPECT_LE(text.bytes(), TextCache::kMaxBytes);
  text.clear();
  EXPECT_EQ(text.runs(), 0u);
  EXPECT_EQ(text.bytes(), 0u);
  // Numbers are made of digits.
  for (int i = 0; i < 10'000; ++i) text.width(std::to_string(i) + "." + std::to_string(i % 10), {12, false});
  EXPECT_LE(text.runs(), 11u);
}

TEST(DisplayText, FitsAndCutsBetweenCharacters) {
  TextCache text;
  const Font font{14, false};
  EXPECT_EQ(text.fit("short", font, 1000), "short");
  EXPECT_EQ(text.fit("anything", font, 3), "");
  for (int limit = 1; limit < 200; ++limit) {
    const std::string cut = text.fit("Fußgängerübergänge über Brücken", font, limit);
    EXPECT_LE(text.width(cut, font), limit);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const bool is_whole = static_cast<unsigned char>(cut[i]) != 0xC3 ||
                            (i + 1 < cut.size() && (static_cast<unsigned char>(cut[i + 1]) & 0xC0) == 0x80);
      ASSERT_TRUE(is_whole) << cut;
    }
  }
  std::string digits;
  std::set<int> widths;
  for (char c = '0'; c <= '9'; ++c) widths.insert(text.width(std::string(1, c), font));
  EXPECT_EQ(widths.size(), 1u) << "digits are equally wide";
}

}  // namespace
}  // namespace sightline::display
