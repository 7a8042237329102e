// The window for marking: what mouse and keyboard tell, and what is drawn.
#include "display/label_window.hpp"

#include <set>

#include "display/screens.hpp"
#include "display_support.hpp"
#include "media/annotate.hpp"

namespace sightline::display {
namespace {

using namespace test;
using std::chrono::milliseconds;

// One of SDL's dummy driver, which nobody sees.
class LabelDisplay : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    WindowOptions options;
    options.software = options.hidden = true;
    window_ = std::make_unique<LabelWindow>("test", kSize, options);
    SDL_SetWindowSize(sdl(), kSize.width, kSize.height);
    drain();
  }
  static SDL_Window* sdl() {
    for (Uint32 id = 1; id < 100'000; ++id)
      if (SDL_Window* window = SDL_GetWindowFromID(id)) return window;
    return nullptr;
  }
  void drain() {
    present();
    while (window_->wait(milliseconds(0))) {
    }
  }
  void present() { window_->present(view_, overlay_); }
  Shown shown() {
    present();
    return {window_->output_size(), window_->shown_rgb()};
  }
  // What comes of one event; nothing where it means nothing.
  std::optional<LabelInput> tell(SDL_Event event) {
    SDL_PushEvent(&event);
    return window_->wait(milliseconds(0));
  }
  std::optional<LabelInput> press(SDL_Keycode code, Uint16 modifiers = 0, bool is_repeat = false) {
    SDL_Event event{};
    event.type = SDL_KEYDOWN;
    event.key.keysym.sym = code;
    event.key.keysym.mod = modifiers;
    event.key.repeat = is_repeat;
    return tell(event);
  }
  std::optional<LabelCommand> command(SDL_Keycode code, Uint16 modifiers = 0, bool is_repeat = false) {
    const auto input = press(code, modifiers, is_repeat);
    if (!input || !std::holds_alternative<KeyInput>(*input)) return std::nullopt;
    return std::get<KeyInput>(*input).command;
  }
  std::optional<LabelInput> button(Uint32 type, int x, int y, Uint8 which = SDL_BUTTON_LEFT) {
    SDL_Event event{};
    event.type = type;
    event.button.button = which;
    event.button.clicks = 1;
    event.button.x = x;
    event.button.y = y;
    return tell(event);
  }

  static constexpr Size kSize{640, 480};
  std::unique_ptr<LabelWindow> window_;
  PicturePart view_;
  LabelOverlay overlay_;
};

TEST_F(LabelDisplay, KeysCommand) {
  using enum LabelCommand;
  const std::tuple<SDL_Keycode, Uint16, LabelCommand> wanted[] = {{SDLK_n, 0, next},
                                                                  {SDLK_PAGEDOWN, 0, next},
                                                                  {SDLK_p, 0, previous},
                                                                  {SDLK_SPACE, 0, confirm},
                                                                  {SDLK_RETURN, 0, finish},
                                                                  {SDLK_DELETE, 0, remove},
                                                                  {SDLK_TAB, 0, select_next},
                                                                  {SDLK_TAB, KMOD_LSHIFT, select_previous},
                                                                  {SDLK_z, 0, undo},
                                                                  {SDLK_z, KMOD_LCTRL, undo},
                                                                  {SDLK_z, KMOD_LCTRL | KMOD_LSHIFT, redo},
                                                                  {SDLK_y, KMOD_LCTRL, redo},
                                                                  {SDLK_LEFT, 0, left},
                                                                  {SDLK_RIGHT, KMOD_LSHIFT, right},
                                                                  {SDLK_UP, KMOD_LCTRL, up},
                                                                  {SDLK_DOWN, 0, down},
                                                                  {SDLK_PLUS, KMOD_LSHIFT, zoom_in},
                                                                  {SDLK_KP_MINUS, 0, zoom_out},
                                                                  {SDLK_w, 0, fit},
                                                                  {SDLK_c, 0, new_class},
                                                                  {SDLK_i, 0, ignore},
                                                                  {SDLK_v, 0, copy},
                                                                  {SDLK_u, 0, only_unseen},
                                                                  {SDLK_o, 0, panels},
                                                                  {SDLK_h, 0, help},
                                                                  {SDLK_f, 0, full_screen},
                                                                  {SDLK_ESCAPE, 0, cancel},
                                                                  {SDLK_q, KMOD_CAPS | KMOD_NUM, quit}};
  std::set<LabelCommand> seen;
  for (const auto& [code, modifiers, meant] : wanted) {
    EXPECT_EQ(command(code, modifiers), meant) << SDL_GetKeyName(code);
    seen.insert(meant);
    drain();
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(quit) + 1) << "a command without a key";
  EXPECT_EQ(command(SDLK_n, KMOD_LCTRL), std::nullopt);
  EXPECT_EQ(command(SDLK_x, KMOD_LALT), std::nullopt);
  EXPECT_EQ(command(SDLK_n, 0, true), next) << "held down";
  EXPECT_EQ(command(SDLK_DELETE, 0, true), std::nullopt) << "one box for one press";
  EXPECT_FALSE(press(SDLK_F5));
}

TEST_F(LabelDisplay, DigitsChooseClasses) {
  for (const auto& [code, index] : {std::pair{SDLK_1, 0}, {SDLK_9, 8}, {SDLK_0, 9}, {SDLK_KP_3, 2}}) {
    const auto input = press(code);
    ASSERT_TRUE(input && std::holds_alternative<ClassInput>(*input)) << SDL_GetKeyName(code);
    EXPECT_EQ(std::get<ClassInput>(*input).index, index);
  }
}

TEST_F(LabelDisplay, AClickOnAClassChoosesIt) {
  overlay_.classes = {{"1", "cat", 0, true}, {"2", "dog", 3, false}};
  overlay_.name = "a.jpg";
  present();
  constexpr int kX = 60;
  std::set<int> chosen;
  for (int y = 0; y < kSize.height; y += 4) {
    const auto input = button(SDL_MOUSEBUTTONDOWN, kX, y);
    ASSERT_TRUE(input);
    if (const auto* one = std::get_if<ClassInput>(&*input)) chosen.insert(one->index);
  }
  EXPECT_EQ(chosen, (std::set<int>{0, 1}));
  overlay_.panels = false;
  present();
  for (int y = 0; y < kSize.height; y += 4)
    EXPECT_TRUE(std::holds_alternative<PointerInput>(*button(SDL_MOUSEBUTTONDOWN, kX, y)));
}

TEST_F(LabelDisplay, PanelsHaveColumnsOfTheirOwnWhereThereIsRoom) {
  EXPECT_GT(label_panels_width({1280, 800}), 200);
  EXPECT_EQ(label_panels_width({400, 800}), 0);
}

TEST_F(LabelDisplay, TheMouse) {
  auto input = button(SDL_MOUSEBUTTONDOWN, 400, 200);
  ASSERT_TRUE(input);
  EXPECT_EQ(std::get<PointerInput>(*input).kind, PointerInput::Kind::press);
  EXPECT_EQ(std::get<PointerInput>(*input).x, 400);
  EXPECT_EQ(std::get<PointerInput>(*button(SDL_MOUSEBUTTONUP, 4, 5)).kind, PointerInput::Kind::release);
  EXPECT_FALSE(button(SDL_MOUSEBUTTONDOWN, 4, 5, SDL_BUTTON_RIGHT));
  SDL_Event event{};
  event.type = SDL_MOUSEMOTION;
  event.motion.x = 7;
  event.motion.y = 8;
  event.motion.xrel = 3;
  event.motion.yrel = -2;
  EXPECT_EQ(std::get<PointerInput>(*tell(event)).y, 8);
  event.motion.state = SDL_BUTTON_RMASK;
  EXPECT_EQ(std::get<PanInput>(*tell(event)).dx, 3);
  event = {};
  event.type = SDL_MOUSEWHEEL;
  event.wheel.preciseY = 1.5;
  EXPECT_EQ(std::get<WheelInput>(*tell(event)).steps, 1.5);
  event = {};
  event.type = SDL_WINDOWEVENT;
  event.window.event = SDL_WINDOWEVENT_CLOSE;
  EXPECT_EQ(std::get<KeyInput>(*tell(event)).command, LabelCommand::quit);
  event.window.event = SDL_WINDOWEVENT_LEAVE;
  EXPECT_EQ(std::get<PointerInput>(*tell(event)).kind, PointerInput::Kind::leave);
}

TEST_F(LabelDisplay, TypingIsNoCommanding) {
  window_->set_typing(true);
  EXPECT_FALSE(press(SDLK_q));
  SDL_Event event{};
  event.type = SDL_TEXTINPUT;
  SDL_strlcpy(event.text.text, "q", sizeof event.text.text);
  EXPECT_EQ(std::get<TextInput>(*tell(event)).text, "q");
  EXPECT_EQ(std::get<TextInput>(*press(SDLK_RETURN)).kind, TextInput::Kind::accept);
  EXPECT_EQ(std::get<TextInput>(*press(SDLK_BACKSPACE)).kind, TextInput::Kind::erase);
  EXPECT_EQ(std::get<TextInput>(*press(SDLK_ESCAPE)).kind, TextInput::Kind::cancel);
  window_->set_typing(false);
  EXPECT_EQ(command(SDLK_q), LabelCommand::quit);
  EXPECT_FALSE(tell(event));
}

// A picture of 8x8 pixels, each of a colour of its own, four of which fill the window and more.
TEST_F(LabelDisplay, ShowsAPartOfThePicture) {
  overlay_.panels = false;
  for (const AVPixelFormat format :
       {AV_PIX_FMT_RGB24, AV_PIX_FMT_BGRA, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12}) {
    SCOPED_TRACE(av_get_pix_fmt_name(format));
    const auto picture = make_picture(format, {8, 8});
    const int samples = format == AV_PIX_FMT_RGB24 ? 3 : format == AV_PIX_FMT_BGRA ? 4 : 1;
    fill_plane(*picture, 0, 8 * samples, 8, [&](int x, int y) { return 16 + 20 * (x / samples) + 5 * y; });
    if (samples == 1) {
      fill_plane(*picture, 1, format == AV_PIX_FMT_NV12 ? 8 : 4, 4, [](int, int) { return 128; });
      if (format == AV_PIX_FMT_YUV420P) fill_plane(*picture, 2, 4, 4, [](int, int) { return 128; });
      picture->color_range = AVCOL_RANGE_JPEG;
    }
    window_->set_frame(to_frame(picture));
    // 160 screen pixels a pixel; the part begins 100 screen pixels left of the window and ends beyond it.
    view_ = {{2, 4, 6, 4}, {-100, -40, 960, 640}};
    const Shown whole = shown();
    for (const auto& [x, y] : {std::pair{0, 0}, {1, 1}, {3, 2}}) {
      const int level = 16 + 20 * (2 + x) + 5 * (4 + y);
      EXPECT_LE(difference(whole.at(-100 + 160 * x + 80 + (x == 0 ? 30 : 0), -40 + 160 * y + 80),
                           {level, level, level}),
                x == 0 ? 6 : 2)
          << x << " " << y;
    }
    // Another part of the same frame.
    view_ = {{0, 0, 8, 8}, {0, 0, 480, 480}};
    const Shown fitted = shown();
    EXPECT_LE(difference(fitted.at(30, 30), {16, 16, 16}), 2);
    EXPECT_LE(difference(fitted.at(450, 450), {191, 191, 191}), 2);
    EXPECT_EQ(fitted.at(600, 240), (Rgb{kSurround.red, kSurround.green, kSurround.blue}));
  }
}

TEST_F(LabelDisplay, TheSelectedBoxHasHandlesAndIsOnTop) {
  overlay_.panels = false;
  window_->set_frame(flat_frame({640, 480}, 60));
  view_ = {{0, 0, 640, 480}, {0, 0, 640, 480}};
  const Color color = media::label_color(0);
  const Rgb ink{static_cast<int>(std::lround(color.red * 255)),
                static_cast<int>(std::lround(color.green * 255)),
                static_cast<int>(std::lround(color.blue * 255))};
  overlay_.boxes = {{{200, 100, 100, 200}, "cat", 0, false, false, false}};
  Shown plain = shown();
  EXPECT_LE(difference(plain.at(200, 250), ink), 2);
  EXPECT_GT(difference(plain.at(300, 300), {255, 255, 255}), 30);
  overlay_.boxes[0].selected = true;
  // Drawn over, where another one is in front of it in the list.
  overlay_.boxes.push_back({{195, 240, 20, 20}, "", 1, false, false, false});
  const Shown selected = shown();
  for (const auto& [x, y] : {std::pair{200, 100}, {300, 300}, {250, 100}, {300, 200}})
    EXPECT_EQ(selected.at(x, y), (Rgb{255, 255, 255})) << x << " " << y;
  EXPECT_LE(difference(selected.at(200, 250), ink), 2);
  overlay_.boxes = {{{200, 100, 100, 200}, "cat?", 0, false, true, false}};
  const Shown proposed = shown();
  int own = 0, other = 0;
  for (int y = 110; y < 290; ++y) (difference(proposed.at(200, y), ink) <= 2 ? own : other)++;
  EXPECT_GT(own, 50) << "dashes";
  EXPECT_GT(other, 50) << "and gaps";
}

TEST_F(LabelDisplay, EverythingFitsIntoAnyWindow) {
  overlay_.boxes = {{{-1e9, -1e9, 3e9, 3e9}, "a", 0, true, false, false},
                    {{10, 10, 0, 5}, "", 1, false, false, false},
                    {{std::nan(""), 0, 5, 5}, "", 1, false, false, false}};
  for (int i = 0; i < 40; ++i)
    overlay_.classes.push_back({"1", "a class with a long name " + std::to_string(i), i});
  overlay_.help = true;
  overlay_.name = "a-picture-with-a-name-that-is-much-too-long-for-any-panel-of-this-or-another-window.jpg";
  overlay_.position = "123456 of about 1234567";
  overlay_.progress = "123455 seen, unseen only";
  overlay_.details = "123456x123456, 4000 %";
  overlay_.selection = "12345, 12345: 12345 x 12345, proposed";
  overlay_.state =
      "not saved: cannot write boxes '/a/long/path/to/boxes.txt': No space left on device; make some";
  overlay_.state_kind = StateKind::bad;
  overlay_.message = overlay_.hint = overlay_.state;
  overlay_.crosshair = Rect{100, 100, 0, 0};
  for (const Size size : {Size{1, 1}, {20, 300}, {160, 120}, {300, 60}, {640, 480}, {1920, 1080}}) {
    TextCache text;
    Scene scene;
    add_labels(scene, text, overlay_, size);
    overlay_.typing = "a name";
    add_labels(scene, text, overlay_, size);
    for (const auto& item : scene) {
      const auto* const words = std::get_if<Words>(&item);
      const Rect r = words ? words->bounds : std::get<Fill>(item).rect;
      EXPECT_EQ(intersection(r, {0, 0, size.width, size.height}), r) << size.width << "x" << size.height;
    }
  }
}

TEST(LabelHelp, SpeaksOfEveryKey) {
  std::string all;
  for (const HelpLine& line : label_help_lines()) {
    EXPECT_FALSE(line.keys.empty());
    EXPECT_FALSE(line.text.empty());
    all += std::string(line.keys) + " ";
  }
  for (const char letter : std::string("nupcxivzyowfhq"))
    EXPECT_NE((" " + all).find(std::string(" ") + letter), std::string::npos) << letter;
}

}  // namespace
}  // namespace sightline::display
