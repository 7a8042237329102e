#pragma once
/// Table of keys with their commands and help texts.

#include <optional>
#include <span>
#include <string_view>

namespace sightline::display {

enum class Command {
  pause,
  step,
  drop_policy,
  overlay,  ///< next of HudMode
  help,
  save_picture,
  record,
  full_screen,   ///< done by the window itself, and still reported
  next_tile,     ///< the next source is the chosen one
  choose_tile,   ///< the one that was clicked on (Window::clicked_tile)
  enlarge_tile,  ///< the chosen source alone, or all again
  schedule_1,
  schedule_2,
  schedule_3,
  schedule_4,
  schedule_5,
  schedule_6,
  more_accurate,  ///< next of several operating points
  faster,         ///< likewise
  follow_policy,  ///< settings are chosen by policy again
  quit,
};

/// 0..5 for schedule_1..schedule_6, else no value.
constexpr std::optional<int> schedule_index(Command command) {
  if (command < Command::schedule_1 || command > Command::schedule_6) return std::nullopt;
  return static_cast<int>(command) - static_cast<int>(Command::schedule_1);
}

struct Key {
  char code;  ///< character without modifiers; 27 for Escape, 9 for Tab, 13 for Enter
  Command command;
  bool repeats;  ///< goes on while held down
};

/// One line of the help panel.
struct HelpLine {
  std::string_view keys;
  std::string_view text;
};

/// Every key there is.
std::span<const Key> keys();
/// Every key once, in the order of presentation.
std::span<const HelpLine> help_lines();

/// The command of a key, by its character without modifiers.
std::optional<Command> command_of(int code, bool is_repeat);

}  // namespace sightline::display
