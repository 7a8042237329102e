#pragma once
/// A window that shows a source's frames with their detections, and takes keys.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "display/keys.hpp"
#include "display/overlay.hpp"
#include "frame/frame.hpp"
#include "frame/stream_info.hpp"

namespace sightline::display {

struct WindowOptions {
  bool software = false;         ///< draw on the processor even where there is a graphics card
  bool full_screen = false;      ///< starts in full screen
  bool vsync = false;            ///< wait for the screen's refresh: no tearing, up to a refresh more latency
  bool hidden = false;           ///< draws invisibly, for tests
  Rational sample_aspect{0, 1};  ///< pixel aspect ratio of frames that state none
};

/// Opens at the size of the first frame, or as large as the screen allows; can be resized, keeps the
/// picture's aspect ratio, and redraws itself while events are taken.
///
/// Draws with the graphics card if there is one. Instead of a software renderer (such as llvmpipe, which
/// would take the detector's cores), it draws on the CPU in one pass over the screen's memory.
///
/// Thread-safety: to be made, used and destroyed on the main thread, but for `wake`. One window at a time.
/// Does not touch SIGINT and SIGTERM.
/// Errors: Error (failed) where the screen is lost or memory is out. An X server that goes away is noticed by
/// `poll` and `wait`; until then drawing does nothing.
class Window {
 public:
  /// @param first_frame  for which it opens: of one tile
  /// @param tiles        there will be
  /// @throws Error (failed) if there is no screen, with `--headless` as the remedy
  Window(const std::string& title, Size first_frame, const WindowOptions& options = {},
         std::size_t tiles = 1);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Draws the frame and what lies over it, and hands it to the screen; returns when that is done. A frame
  /// that is shown already is not uploaded again. An empty frame is a dark picture. Draws nothing while
  /// minimised.
  void present(const Frame& frame, const Overlay& overlay);
  /// Draws several sources side by side; `chosen` is the number of the one that has the keys. Each tile shows
  /// its boxes, name, state, rates and recording; the chosen one's `hud`, `help` and `message` count for the
  /// window. One tile is drawn as by the function above.
  void present(std::vector<Tile> tiles, std::size_t chosen);
  /// Presents the last content again.
  void redraw();

  /// The next command, if one is waiting. Redraws where the window was uncovered or resized.
  std::optional<Command> poll();
  /// The next command; nothing after the time, or after `wake`.
  std::optional<Command> wait(std::chrono::milliseconds timeout);
  /// Ends the `wait` in progress, or the next. Any thread, while the window lives.
  void wake() noexcept;

  /// The tile that the last Command::choose_tile means.
  std::size_t clicked_tile() const;

  void set_title(const std::string& title);
  void set_full_screen(bool on);
  bool is_full_screen() const;
  /// In pixels, which are smaller than the window's units on screens of high density.
  Size output_size() const;
  /// "software", or the graphics card's interface and name.
  const std::string& renderer() const;

  /// The current content, drawn again: RGB, 3 bytes a pixel, rows of `output_size` without padding.
  std::vector<std::uint8_t> shown_rgb();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::display
