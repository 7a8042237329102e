#include "display/label_keys.hpp"

#include <SDL.h>

#include <vector>

namespace sightline::display {
namespace {

// Modifiers required with a key. `any`: the command interprets Shift itself.
enum class Held { nothing, control, control_shift, shift, any };

struct LabelKey {
  int code;
  LabelCommand command;
  Held held = Held::nothing;
  bool repeats = false;
};

// A line of help, and the keys that it speaks of.
struct LabelEntry {
  HelpLine help;
  std::vector<LabelKey> keys;
};

const std::vector<LabelEntry>& table() {
  using enum LabelCommand;
  static const std::vector<LabelEntry> all{
      {{"drag", "draw a box; in the selected one: move it; on an edge: resize it"}, {}},
      {{"Shift drag", "draw a box, also on or in another"}, {}},
      {{"wheel, + \u2212", "zoom"},
       {{'+', zoom_in, Held::nothing, true},
        {'=', zoom_in, Held::nothing, true},
        {SDLK_KP_PLUS, zoom_in, Held::nothing, true},
        {'-', zoom_out, Held::nothing, true},
        {SDLK_KP_MINUS, zoom_out, Held::nothing, true}}},
      {{"right drag", "move the picture"}, {}},
      {{"w, Home", "show the whole picture"}, {{'w', fit}, {SDLK_HOME, fit}}},
      {{"n p, Page Down Up", "next and previous picture"},
       {{'n', next, Held::nothing, true},
        {SDLK_PAGEDOWN, next, Held::nothing, true},
        {'p', previous, Held::nothing, true},
        {SDLK_PAGEUP, previous, Held::nothing, true}}},
      {{"Enter", "accept all boxes; next picture"}, {{SDLK_RETURN, finish}, {SDLK_KP_ENTER, finish}}},
      {{"space", "confirm the selected proposal; next proposal"}, {{' ', confirm}}},
      {{"u", "show only unseen pictures"}, {{'u', only_unseen}}},
      {{"1\u20139, 0", "class of the selected box and of new boxes"}, {}},
      {{"c", "new class: type its name"}, {{'c', new_class}}},
      {{"Tab, Shift Tab", "select the next or previous box"},
       {{SDLK_TAB, select_next, Held::nothing, true}, {SDLK_TAB, select_previous, Held::shift, true}}},
      {{"arrows", "move the selected box; Shift: ten pixels; Ctrl: its size"},
       {{SDLK_LEFT, left, Held::any, true},
        {SDLK_RIGHT, right, Held::any, true},
        {SDLK_UP, up, Held::any, true},
        {SDLK_DOWN, down, Held::any, true}}},
      {{"Del, x", "delete the selected box or proposal"},
       {{SDLK_DELETE, remove}, {SDLK_BACKSPACE, remove}, {'x', remove}}},
      {{"i", "mark the selected box as unclear (ignored)"}, {{'i', ignore}}},
      {{"v", "copy the boxes of the previous picture"}, {{'v', copy}}},
      {{"z y, Ctrl Z Y", "undo and redo"},
       {{'z', undo, Held::nothing, true},
        {'z', undo, Held::control, true},
        {'z', redo, Held::control_shift, true},
        {'y', redo, Held::nothing, true},
        {'y', redo, Held::control, true}}},
      {{"o", "panels on and off"}, {{'o', panels}}},
      {{"f", "full screen on and off"}, {{'f', full_screen}, {SDLK_F11, full_screen}}},
      {{"h", "this help"}, {{'h', help}, {SDLK_F1, help}, {'?', help}}},
      {{"Esc", "cancel; clear the selection"}, {{SDLK_ESCAPE, cancel}}},
      {{"q", "quit; everything is saved"}, {{'q', quit}, {'q', quit, Held::control}}}};
  return all;
}

bool is_held(Held held, bool control, bool shift) {
  switch (held) {
    case Held::nothing:
      return !control && !shift;
    case Held::control:
      return control && !shift;
    case Held::control_shift:
      return control && shift;
    case Held::shift:
      return !control && shift;
    case Held::any:
      break;
  }
  return true;
}

}  // namespace

std::span<const HelpLine> label_help_lines() {
  static const std::vector<HelpLine> all = [] {
    std::vector<HelpLine> lines;
    for (const LabelEntry& entry : table()) lines.push_back(entry.help);
    return lines;
  }();
  return all;
}

std::optional<LabelCommand> label_command_of(int code, bool control, bool shift, bool is_repeat) {
  // Characters that need Shift on some keyboards only; Caps Lock is no Shift.
  const bool is_sign = code == '+' || code == '=' || code == '-' || code == '?';
  for (const LabelEntry& entry : table())
    for (const LabelKey& key : entry.keys)
      if (key.code == code && is_held(key.held, control, shift && !is_sign) && (!is_repeat || key.repeats))
        return key.command;
  return std::nullopt;
}

}  // namespace sightline::display
