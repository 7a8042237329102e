#include "display/keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sightline::display {
namespace {

// A line of help and the keys that it speaks of, one command after the other.
struct Entry {
  HelpLine help;
  std::array<Key, 6> keys;
  std::size_t count;
};

constexpr std::array<Entry, 14> kTable{{
    {{"space", "pause and continue"}, {{{' ', Command::pause, false}}}, 1},
    {{"s", "pause and advance one frame"}, {{{'s', Command::step, true}}}, 1},
    {{"d", "next drop policy"}, {{{'d', Command::drop_policy, false}}}, 1},
    {{"Tab, click", "choose a source, of several"}, {{{'\t', Command::next_tile, true}}}, 1},
    {{"Enter", "show the chosen source alone, and all again"}, {{{'\r', Command::enlarge_tile, false}}}, 1},
    {{"1\u20136", "schedule, switched while running"},
     {{{'1', Command::schedule_1, false},
       {'2', Command::schedule_2, false},
       {'3', Command::schedule_3, false},
       {'4', Command::schedule_4, false},
       {'5', Command::schedule_5, false},
       {'6', Command::schedule_6, false}}},
     6},
    {{"+, =, -", "more accurate, or faster"},
     {{{'+', Command::more_accurate, true},
       {'=', Command::more_accurate, true},
       {'-', Command::faster, true}}},
     3},
    {{"a", "return to automatic choice of the operating point"}, {{{'a', Command::follow_policy, false}}}, 1},
    {{"p", "save the picture"}, {{{'p', Command::save_picture, false}}}, 1},
    {{"r", "start and stop recording"}, {{{'r', Command::record, false}}}, 1},
    {{"o", "change the overlay: full, compact or off"}, {{{'o', Command::overlay, false}}}, 1},
    {{"f, double click", "full screen on and off"}, {{{'f', Command::full_screen, false}}}, 1},
    {{"h", "this help"}, {{{'h', Command::help, false}}}, 1},
    {{"q, Esc", "quit"}, {{{'q', Command::quit, false}, {27, Command::quit, false}}}, 2},
}};

}  // namespace

std::span<const Key> keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> keys;
    for (const Entry& entry : kTable)
      keys.insert(keys.end(), entry.keys.begin(),
                  entry.keys.begin() + static_cast<std::ptrdiff_t>(entry.count));
    return keys;
  }();
  return all;
}

std::span<const HelpLine> help_lines() {
  static const std::vector<HelpLine> all = [] {
    std::vector<HelpLine> lines;
    for (const Entry& entry : kTable) lines.push_back(entry.help);
    return lines;
  }();
  return all;
}

std::optional<Command> command_of(int code, bool is_repeat) {
  const auto all = keys();
  const auto key = std::find_if(all.begin(), all.end(), [&](const Key& k) { return k.code == code; });
  if (key == all.end() || (is_repeat && !key->repeats)) return std::nullopt;
  return key->command;
}

}  // namespace sightline::display
