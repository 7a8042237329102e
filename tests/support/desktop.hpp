#pragma once
// A virtual screen with simulated mouse and keyboard.

#include "support/xvfb.hpp"

namespace sightline::test {

class Desktop {
 public:
  static bool is_installed() { return Xvfb::is_installed() && !find_program("xdotool").empty(); }

  explicit Desktop(const std::string& screen = "1280x800x24") : screen_(screen) {}

  /// Environment of programs that open windows there.
  ChildSetup environment() const {
    const std::string source = SIGHTLINE_SOURCE_DIR;
    return {{"DISPLAY=" + display(), "WAYLAND_DISPLAY=", "SDL_VIDEODRIVER=x11",
             "SIGHTLINE_CONFIGS=" + source + "/configs",
             "LSAN_OPTIONS=print_suppressions=0:suppressions=" + source + "/tests/lsan.supp"},
            {}};
  }
  /// Runs an xdotool command. Returns whether it succeeded.
  bool act(const std::vector<std::string>& action, double patience) const {
    std::vector<std::string> words{"xdotool"};
    words.insert(words.end(), action.begin(), action.end());
    ChildProcess child(words, environment());
    return child.wait(patience) == 0;
  }
  /// The screen is gone from one moment to the next.
  void kill() { screen_.server().kill(); }
  const std::string& display() const { return screen_.display(); }

 private:
  Xvfb screen_;
};

}  // namespace sightline::test
