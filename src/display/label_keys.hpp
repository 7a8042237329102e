#pragma once
/// Table of the labelling window's keys, with commands and help texts.

#include <optional>
#include <span>

#include "display/keys.hpp"

namespace sightline::display {

enum class LabelCommand {
  next,
  previous,
  confirm,
  finish,
  remove,
  select_next,
  select_previous,
  undo,
  redo,
  left,
  right,
  up,
  down,
  zoom_in,
  zoom_out,
  fit,
  new_class,
  ignore,
  copy,
  only_unseen,
  panels,
  help,
  full_screen,  ///< done by the window itself, and still reported
  cancel,
  quit,
};

/// The command of a key.
/// @param code     character without modifiers; SDL's code for keys without a character
/// @param control  whether Control is held; few keys use it
std::optional<LabelCommand> label_command_of(int code, bool control, bool shift, bool is_repeat);

/// Every key and button once, in the order of presentation.
std::span<const HelpLine> label_help_lines();

}  // namespace sightline::display
