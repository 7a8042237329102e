#pragma once
/// A window in which objects are marked: shows a picture at any scale, and tells what mouse and keyboard do.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "display/label_keys.hpp"
#include "display/label_overlay.hpp"
#include "display/window.hpp"
#include "frame/frame.hpp"

namespace sightline::display {

/// The left button, and where the pointer is. Pixels of the output.
struct PointerInput {
  enum class Kind { press, move, release, leave };
  Kind kind = Kind::move;
  double x = 0;
  double y = 0;
  bool shift = false;
};
/// The picture is dragged with another button.
struct PanInput {
  double dx = 0;
  double dy = 0;
};
struct WheelInput {
  double steps = 0;  ///< positive: away from the user, which is to zoom in
  double x = 0;
  double y = 0;
};
struct KeyInput {
  LabelCommand command = LabelCommand::cancel;
  bool shift = false;
  bool control = false;
};
/// A class was chosen, by its number's key or in the list; from 0.
struct ClassInput {
  int index = 0;
};
/// While `set_typing` is on.
struct TextInput {
  enum class Kind { typed, erase, accept, cancel };
  Kind kind = Kind::typed;
  std::string text;
};
using LabelInput = std::variant<PointerInput, PanInput, WheelInput, KeyInput, ClassInput, TextInput>;

enum class PointerShape { arrow, cross, move, across, down, falling, rising };

/// Threads, errors and drawing are the same as for Window.
class LabelWindow {
 public:
  /// @param picture  of which size it opens
  /// @throws Error (failed) if there is no screen
  LabelWindow(const std::string& title, Size picture, const WindowOptions& options = {});
  ~LabelWindow();
  LabelWindow(const LabelWindow&) = delete;
  LabelWindow& operator=(const LabelWindow&) = delete;

  /// Sets the frame that `present` shows; an empty frame is a dark picture. Throws Error (input) if it cannot
  /// be converted.
  void set_frame(const Frame& frame);
  /// Width to height of its pixels.
  double pixel_aspect() const;
  /// Draws a part of the frame at its place, and the overlay.
  /// @param view  the part begins at even pixels
  void present(const PicturePart& view, const LabelOverlay& overlay);

  /// The next input. No value after the timeout, after `wake`, or if the caller has to draw the window again,
  /// for its current size.
  std::optional<LabelInput> wait(std::chrono::milliseconds timeout);
  /// See Window.
  void wake() noexcept;

  /// Letters are text from now on, not commands.
  void set_typing(bool on);
  void set_shape(PointerShape shape);
  void set_title(const std::string& title);
  Size output_size() const;
  /// Pixels of the output a unit of the window.
  double density() const;

  /// See Window.
  std::vector<std::uint8_t> shown_rgb();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::display
