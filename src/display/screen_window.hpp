#pragma once
/// Internal to src/display: a window with its screen, and the events that every window has.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "display/screens.hpp"
#include "display/window.hpp"

namespace sightline::display {

/// SDL's video part, as long as this lives. Throws Error (failed) if there is no screen.
class Video {
 public:
  /// @param remedy  what the user can do without a screen
  explicit Video(const Message& remedy);
  ~Video();
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;
  /// Leaves all as it is in the end: what would close it waits for a server that is gone.
  void abandon() { is_abandoned_ = true; }

 private:
  bool is_abandoned_ = false;
};

/// Aspect ratio of a picture's pixels; a value that is not positive counts as 1.
double aspect_of(const Rational& own, const Rational& otherwise);

/// Thread-safety: the main thread, but for `wake`.
class ScreenWindow {
 public:
  /// @param picture  for which it is: as large as that, or as the screen allows
  ScreenWindow(const std::string& title, Size picture, const WindowOptions& options, const Message& remedy);
  ~ScreenWindow();
  ScreenWindow(const ScreenWindow&) = delete;
  ScreenWindow& operator=(const ScreenWindow&) = delete;

  SDL_Window* sdl() { return window_.get(); }
  Screen& screen() { return *screen_; }
  TextCache& text() { return text_; }

  /// Pixels of the output a unit of the window.
  double density() const;

  void set_full_screen(bool on);
  bool is_full_screen() const;
  void toggle_full_screen() { set_full_screen(!is_full_screen()); }
  /// The next event for the window's user; SDL_QUIT also to close the window and after the loss of its
  /// screen.
  std::optional<SDL_Event> next_event();
  /// Waits until there is an event, at most so long. It is left for `next_event`.
  static void wait_for_event(std::chrono::steady_clock::time_point until);
  /// Whether `wake` was called since this was asked last.
  bool was_woken() { return std::exchange(is_woken_, false); }
  void wake() noexcept;

  /// True if the screen does not show the last drawing; drawing again clears it.
  bool is_stale() const { return is_stale_; }
  void set_stale(bool stale) { is_stale_ = stale; }
  /// Whether there is anything to draw for.
  bool is_visible() const { return !is_lost_ && !is_minimised(); }

 private:
  void make_window(const std::string& title, Size size);
  bool is_minimised() const;

  std::atomic<bool> is_lost_{false};  // the connection to the screen
  Video video_;
  TextCache text_;
  WindowPtr window_;
  std::unique_ptr<Screen> screen_;
  Uint32 wake_event_ = 0;
  std::atomic<bool> is_waking_{false};  // an event is on its way
  bool is_woken_ = false;
  bool is_stale_ = false;
};

}  // namespace sightline::display
