// The head-up display, notices and help.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "base/duration_text.hpp"
#include "display/panel_painter.hpp"

namespace sightline::display {
namespace {

// Colours of frames in the bars; neighbours differ most.
constexpr std::array<Ink, 6> kFrames{{{79, 195, 247, 255},
                                      {255, 176, 64, 255},
                                      {92, 214, 146, 255},
                                      {200, 160, 255, 255},
                                      {255, 138, 128, 255},
                                      {236, 222, 92, 255}}};

std::string number(double value, int decimals) {
  if (!std::isfinite(value)) return "\u2013";
  char text[40];
  if (std::fabs(value) >= 1e7) {
    std::snprintf(text, sizeof text, "%.2g", value);
  } else {
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
  }
  return text;
}

std::string number(const std::optional<double>& value) {
  return value ? number(*value, 1) : std::string("\u2013");
}

std::int64_t total(const std::vector<DropCount>& drops) {
  std::int64_t sum = 0;
  for (const DropCount& drop : drops) sum += drop.count;
  return sum;
}

// Lines of words that fit into the width, the last one cut off where there is more.
std::vector<std::string> wrap(TextCache& text, const std::string& words, const Font& font, int width,
                              std::size_t max_lines) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < words.size()) {
    if (lines.size() + 1 == max_lines) {
      lines.push_back(text.fit(std::string_view(words).substr(at), font, width));
      break;
    }
    std::size_t end = at, next = at;
    while (next <= words.size()) {
      const std::size_t space = std::min(words.find(' ', next), words.size());
      if (text.width(std::string_view(words).substr(at, space - at), font) > width) break;
      end = space;
      next = space + 1;
    }
    if (end == at) end = std::min(words.find(' ', at), words.size());  // one word that is too long
    lines.push_back(text.fit(std::string_view(words).substr(at, end - at), font, width));
    at = end + 1;
  }
  return lines;
}

// The part of an interval that is in the window of time.
Interval within(const Interval& interval, std::int64_t window) {
  return {std::clamp<std::int64_t>(interval.begin, 0, window),
          std::clamp<std::int64_t>(interval.end, 0, window), interval.frame};
}

// The intervals that can be seen, by beginning.
std::vector<Interval> visible(const Lane& lane, std::int64_t window) {
  std::vector<Interval> all;
  for (const Interval& interval : lane.intervals)
    if (const Interval seen = within(interval, window); seen.end > seen.begin) all.push_back(seen);
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  return all;
}

// The part of the window in which something was going on.
double busy(const std::vector<Interval>& sorted, std::int64_t window) {
  std::int64_t sum = 0, until = 0;
  for (const Interval& interval : sorted) {
    sum += std::max<std::int64_t>(0, interval.end - std::max(interval.begin, until));
    until = std::max(until, interval.end);
  }
  return static_cast<double>(sum) / static_cast<double>(window);
}

// A row for each interval, so that none covers another; at most four rows.
std::vector<std::size_t> rows_of(const std::vector<Interval>& sorted, std::size_t& rows) {
  std::array<std::int64_t, 4> free_from{};
  std::vector<std::size_t> row(sorted.size());
  rows = 1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::size_t r = 0;
    while (r + 1 < free_from.size() && free_from[r] > sorted[i].begin) ++r;
    free_from[r] = sorted[i].end;
    row[i] = r;
    rows = std::max(rows, r + 1);
  }
  return row;
}

class Panels : private PanelPainter {
 public:
  Panels(Scene& scene, TextCache& text, const Overlay& overlay, Size output, double density)
      : PanelPainter(scene, text, output, density), overlay_(overlay) {
    top_ = margin_;
    bottom_ = output.height - margin_;
  }

  void add() {
    if (output_.width < 4 * margin_ + em_ || output_.height < 2 * margin_ + row_) return;
    notices();
    if (overlay_.help) return help(help_lines());  // alone: it needs the room
    if (overlay_.hud == HudMode::compact) compact();
    if (overlay_.hud == HudMode::full) full();
    message();
  }

 private:
  // State, recording and pause: on the right and in the middle of the top where there is room, else one below
  // the other with the rest below them.
  void notices() {
    std::vector<std::vector<Part>> right;
    if (overlay_.recording)
      right.push_back({{"\u25CF ", kBad},
                       {"REC  ", kBright, true},
                       {duration_text(std::floor(overlay_.recording->seconds)), kBright},
                       {"  " + overlay_.recording->file, kDim}});
    if (overlay_.paused) right.push_back({{"\u275A\u275A ", kWaiting}, {"paused", kBright, true}});
    std::vector<Part> state;
    if (!overlay_.state.empty())
      state = {{"\u25CF ", ink_of(overlay_.state_kind)}, {overlay_.state, kBright}};
    const int whole = output_.width - 2 * margin_;
    if (is_narrow()) {
      if (!state.empty()) right.insert(right.begin(), state);
      for (const auto& parts : right) {
        if (top_ + pill_height() > bottom_) return;
        pill(margin_, top_, std::min(whole, width_of(parts) + 2 * padding_), parts);
        top_ += pill_height() + margin_ / 2;
      }
      return;
    }
    int y = margin_;
    const int limit = std::min(whole, 20 * em_);
    for (const auto& parts : right) {
      if (y + pill_height() > bottom_) return;
      const int width = std::min(limit, width_of(parts) + 2 * padding_);
      pill(output_.width - margin_ - width, y, width, parts);
      y += pill_height() + margin_ / 2;
    }
    if (state.empty()) return;
    // Beside the panel on the left, and below the notices where it would run into them.
    const int left = overlay_.hud == HudMode::off ? margin_ : 2 * margin_ + panel_width();
    const int room = output_.width - margin_ - left;
    const int width = std::min(room, width_of(state) + 2 * padding_);
    const int x = std::max(left, (output_.width - width) / 2);
    const bool collides = !right.empty() && x + width > output_.width - 2 * margin_ - limit;
    const int state_top = overlay_.hud == HudMode::compact ? margin_ + pill_height() + margin_ / 2 : margin_;
    pill(x, collides ? std::max(y, state_top) : state_top, width, state);
  }

  int panel_width() const { return std::min(output_.width - 2 * margin_, 20 * em_); }

  void compact() {
    std::vector<std::vector<Part>> groups;
    const auto add_group = [&](const std::string& name, const std::string& value, const char* unit,
                               int digits) {
      // Padded to a width that numbers seldom exceed, so that the following text does not move.
      std::string padded = value;
      const std::string widest = std::string(static_cast<std::size_t>(digits), '0') + ".0";
      const int room = text_.width(widest, font(true)) - text_.width(value, font(true));
      groups.push_back({{name + " ", kDim}, {padded, kBright, true}, {unit, kDim}});
      slack_.push_back(std::max(0, room));
    };
    slack_.clear();
    add_group("found", std::to_string(overlay_.objects.size()), "", 1);
    add_group("detected", number(overlay_.rates.detected), " frames/s", 2);
    add_group("latency", number(overlay_.latency.p50), " ms", 2);
    if (const std::int64_t dropped = total(overlay_.drops); dropped > 0)
      add_group("dropped", std::to_string(dropped), "", 0);
    const bool is_alone = is_narrow() || (!overlay_.recording && !overlay_.paused);
    const int limit = (is_alone ? output_.width : output_.width - 21 * em_) - 2 * margin_;
    const int gap = em_;
    // Broken into lines between groups.
    std::vector<std::vector<std::size_t>> lines(1);
    std::vector<int> widths;
    int pen = 0, widest = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      widths.push_back(width_of(groups[i]) + slack_[i]);
      if (pen > 0 && pen + gap + widths[i] > limit - 2 * padding_) {
        lines.emplace_back();
        pen = 0;
      }
      pen += widths[i] + (pen > 0 ? gap : 0);
      widest = std::max(widest, pen);
      lines.back().push_back(i);
    }
    const int count = std::min(static_cast<int>(lines.size()), (bottom_ - top_ - padding_ / 2) / row_);
    if (count <= 0) return;
    const Rect area{margin_, top_, std::min(limit, widest + 2 * padding_), count * row_ + padding_ / 2};
    panel(area);
    for (int line = 0; line < count; ++line) {
      int x = area.x + padding_;
      const int y = area.y + padding_ / 4 + line * row_;
      for (const std::size_t i : lines[static_cast<std::size_t>(line)]) {
        int part_x = x;
        for (std::size_t p = 0; p < groups[i].size(); ++p) {
          const Part& part = groups[i][p];
          if (p == 1) part_x += slack_[i];
          part_x += words(part_x, y, part.text, part.ink, area.right() - padding_ - part_x, part.bold);
        }
        x += widths[i] + gap;
      }
    }
    top_ = area.bottom() + margin_ / 2;
  }

  // A line of the left panel.
  struct Line {
    std::string name, value, unit;
    Ink ink = kBright;
    bool gap = false;   // a rule above
    bool bold = false;  // bold value
    bool indent = false;
    bool alone = false;  // the name takes the whole line
  };

  std::vector<Line> lines(int inner) {
    std::vector<Line> all;
    if (!overlay_.source.empty())
      all.push_back({.name = overlay_.source, .value = "", .unit = "", .bold = true, .alone = true});
    const auto add = [&](const char* name, std::string value, const char* unit, bool gap = false,
                         bool bold = false) {
      all.push_back({.name = name, .value = std::move(value), .unit = unit, .gap = gap, .bold = bold});
    };
    add("in", number(overlay_.rates.in), "/s", true);
    add("detected", number(overlay_.rates.detected), "/s");
    add("shown", number(overlay_.rates.shown), "/s");
    add("latency", number(overlay_.latency.now), "ms", true, true);
    add("median", number(overlay_.latency.p50), "ms");
    add("95th percentile", number(overlay_.latency.p95), "ms");
    add("stages alone", number(overlay_.latency.stages), "ms");
    add("dropped", std::to_string(total(overlay_.drops)), "", true);
    for (const DropCount& drop : overlay_.drops)
      if (drop.count > 0)
        all.push_back({.name = drop.cause,
                       .value = std::to_string(drop.count),
                       .unit = "",
                       .ink = kDim,
                       .indent = true});
    if (!overlay_.drop_policy.empty()) add("policy", overlay_.drop_policy, "");
    if (!overlay_.schedule.empty()) add("schedule", overlay_.schedule, "", true);
    for (std::string& line : wrap(text_, overlay_.mapping, font(), inner, 3))
      all.push_back({.name = std::move(line), .value = "", .unit = "", .alone = true});
    if (!overlay_.setting.empty()) add("setting", overlay_.setting, "", true);
    if (!overlay_.setting_by.empty()) add("chosen", overlay_.setting_by, "");
    return all;
  }

  void full() {
    const int lane_rows = count_lane_rows();
    const int width = panel_width();
    const bool beside = output_.width - width - 3 * margin_ >= 20 * em_;
    const int lanes_height = lane_rows > 0 ? lane_rows * row_ + padding_ : 0;
    int room = bottom_ - top_;
    // Stacked: the bars get the space left by the numbers, but at least two fifths.
    if (!beside && lanes_height > 0) room -= std::min(lanes_height + margin_, room * 2 / 5);
    const int used = statistics({margin_, top_, width, room});
    if (lanes_height == 0) return;
    if (beside) {
      const int left = width + 2 * margin_;
      lanes({left, std::max(top_, bottom_ - lanes_height), output_.width - margin_ - left,
             std::min(lanes_height, bottom_ - top_)});
    } else {
      const int top = std::max(used + margin_, bottom_ - lanes_height);
      lanes({margin_, top, output_.width - 2 * margin_, bottom_ - top});
    }
  }

  // Returns where the panel ends.
  int statistics(const Rect& room) {
    const int inner = room.width - 2 * padding_;
    const int gap = std::max(2, em_ / 2);
    std::vector<Line> all = lines(inner);
    int height = padding_;
    std::size_t count = 0;
    for (; count < all.size(); ++count) {
      const int more = row_ + (all[count].gap && count > 0 ? gap : 0);
      if (height + more > room.height) break;
      height += more;
    }
    if (count == 0) return room.y;
    panel({room.x, room.y, room.width, height});
    const int unit_width = text_.width(" ms", font());
    const int left = room.x + padding_, right = room.x + room.width - padding_;
    int y = room.y + padding_ / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const Line& line = all[i];
      if (line.gap && i > 0) {
        fill({left, y + gap / 2, inner, 1}, kLine);
        y += gap;
      }
      if (line.alone) {
        words(left, y, line.name, line.bold ? kBright : kDim, inner, line.bold);
      } else {
        const bool has_unit = !line.unit.empty();
        const int edge = has_unit ? right - unit_width : right;
        if (has_unit)
          words(edge + unit_width - text_.width(line.unit, font()), y, line.unit, kDim, unit_width);
        const int indent = line.indent ? em_ : 0;
        const int name = words(left + indent, y, line.name, kDim, inner * 2 / 3);
        words_right(edge, y, line.value, line.ink, edge - left - indent - name - em_ / 2, line.bold);
      }
      y += row_;
    }
    return room.y + height;
  }

  std::string processor_name(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= overlay_.processors.size()) return {};
    return overlay_.processors[static_cast<std::size_t>(index)];
  }

  // Lanes by processor, those of one in the order given.
  std::vector<const Lane*> grouped_lanes() const {
    std::vector<const Lane*> all;
    for (const Lane& lane : overlay_.lanes) all.push_back(&lane);
    std::stable_sort(all.begin(), all.end(),
                     [](const Lane* a, const Lane* b) { return a->processor < b->processor; });
    return all;
  }
  int count_lane_rows() const {
    int rows = static_cast<int>(overlay_.lanes.size());
    int last = -1;
    bool first = true;
    for (const Lane* lane : grouped_lanes()) {
      if (first || lane->processor != last) ++rows;
      last = lane->processor;
      first = false;
    }
    return rows;
  }

  void lanes(const Rect& room) {
    const int rows = std::min(count_lane_rows(), (room.height - padding_) / row_);
    if (rows < 2 || overlay_.lane_window <= 0) return;
    const Rect area{room.x, room.bottom() - rows * row_ - padding_, room.width, rows * row_ + padding_};
    panel(area);
    lanes_top_ = area.y;
    const int inner = area.width - 2 * padding_;
    int name_width = 0;
    for (const Lane& lane : overlay_.lanes) name_width = std::max(name_width, text_.width(lane.name, font()));
    name_width = std::min(name_width, inner / 3);
    const int percent_width = text_.width("100 %", font());
    const int left = area.x + padding_, right = area.right() - padding_;
    const Rect bars{left + name_width + em_, 0, inner - name_width - percent_width - 2 * em_, 0};
    int y = area.y + padding_ / 2, used = 0, last = -1;
    bool first = true;
    for (const Lane* lane : grouped_lanes()) {
      if (first || lane->processor != last) {
        if (used++ == rows) return;
        std::string heading = processor_name(lane->processor);
        if (first) {
          const std::string span =
              "last " + number(static_cast<double>(overlay_.lane_window) / 1e6, 0) + " ms";
          words_right(right, y, span, kDim, inner / 2);
        }
        words(left, y, heading, kDim, inner / 2, true);
        y += row_;
      }
      first = false;
      last = lane->processor;
      if (used++ == rows) return;
      draw_lane(*lane, {bars.x, y + row_ / 6, bars.width, row_ - row_ / 3}, left, right, y, name_width);
      y += row_;
    }
  }

  void draw_lane(const Lane& lane, const Rect& bar, int left, int right, int y, int name_width) {
    const std::int64_t window = overlay_.lane_window;
    const std::vector<Interval> shown = visible(lane, window);
    words(left, y, lane.name, kBright, name_width);
    words_right(right, y, number(100 * busy(shown, window), 0) + " %", kDim, right - left);
    if (bar.width < em_) return;
    fill(bar, kTrack);
    std::size_t rows = 1;
    const std::vector<std::size_t> row = rows_of(shown, rows);
    const auto at = [&](std::int64_t time) {
      return bar.x + static_cast<int>(static_cast<double>(time) / static_cast<double>(window) * bar.width);
    };
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const int begin = std::min(at(shown[i].begin), bar.right() - 1);
      const int end = std::max(begin + 1, at(shown[i].end));
      const int top = bar.y + bar.height * static_cast<int>(row[i]) / static_cast<int>(rows);
      const int bottom = bar.y + bar.height * static_cast<int>(row[i] + 1) / static_cast<int>(rows);
      const std::int64_t frames = static_cast<std::int64_t>(kFrames.size());
      const Ink ink = kFrames[static_cast<std::size_t>((shown[i].frame % frames + frames) % frames)];
      // A dark edge on the right keeps touching neighbours apart.
      fill({begin, top, end - begin, bottom - top}, ink);
      if (end - begin > 3) fill({end - 1, top, 1, bottom - top}, {13, 16, 20, 150});
    }
  }

  void message() {
    if (overlay_.message.empty()) return;
    const int inner = output_.width - 2 * (margin_ + padding_);
    const std::vector<std::string> lines = wrap(text_, overlay_.message, font(), inner, 4);
    const int height = static_cast<int>(lines.size()) * row_ + padding_ / 2;
    const int y = (lanes_top_ > 0 ? lanes_top_ - margin_ / 2 : bottom_) - height;
    if (y < 0) return;
    int widest = 0;
    for (const std::string& line : lines) widest = std::max(widest, text_.width(line, font()));
    const Rect area{(output_.width - widest) / 2 - padding_, y, widest + 2 * padding_, height};
    panel(area);
    for (std::size_t i = 0; i < lines.size(); ++i)
      words(area.x + padding_, y + padding_ / 4 + static_cast<int>(i) * row_, lines[i], kBright, inner);
  }

  const Overlay& overlay_;
  int top_ = 0, bottom_ = 0;  // vertical space left by notices
  int lanes_top_ = 0;
  std::vector<int> slack_;
};

class TilePainter : private PanelPainter {
 public:
  TilePainter(Scene& scene, TextCache& text, const Overlay& overlay, Size output, const Rect& place,
              double density)
      : PanelPainter(scene, text, output, density), overlay_(overlay), place_(place) {
    // Letters that leave room for the picture.
    const int least = static_cast<int>(std::lround(9 * density));
    set_size(std::clamp(place.height / 18, least, std::max(least, natural_size())));
  }

  void add(bool is_chosen) {
    if (!overlay_.state.empty() && overlay_.state_kind != StateKind::good) fill(place_, {13, 16, 20, 150});
    if (is_chosen) frame();
    if (place_.width < 4 * em_ || place_.height < pill_height() + 2 * margin_) return;
    const std::vector<Part> parts = caption();
    if (parts.empty()) return;
    const int limit = place_.width - 2 * margin_;
    pill(place_.x + margin_, place_.y + margin_, std::min(limit, width_of(parts) + 2 * padding_), parts);
  }

 private:
  void frame() {
    const int width = std::max(2, static_cast<int>(std::lround(2 * density_)));
    const Rect& p = place_;
    for (const Rect& side : {Rect{p.x, p.y, p.width, width}, Rect{p.x, p.bottom() - width, p.width, width},
                             Rect{p.x, p.y + width, width, p.height - 2 * width},
                             Rect{p.right() - width, p.y + width, width, p.height - 2 * width}})
      fill(intersection(side, p), kBright);
  }

  std::vector<Part> caption() const {
    std::vector<Part> parts;
    if (overlay_.recording) parts.push_back({"\u25CF REC  ", kBad});
    if (overlay_.paused) parts.push_back({"\u275A\u275A  ", kWaiting});
    if (overlay_.hud == HudMode::off && overlay_.state.empty()) return parts;
    parts.push_back({overlay_.source, kBright, true});
    if (!overlay_.state.empty()) {
      parts.push_back({"  \u25CF ", ink_of(overlay_.state_kind)});
      parts.push_back({overlay_.state, kBright});
      return parts;
    }
    const auto add_value = [&](const std::string& value, const char* unit) {
      parts.push_back({"   " + value, kBright});
      parts.push_back({unit, kDim});
    };
    add_value(std::to_string(overlay_.objects.size()), " found");
    add_value(number(overlay_.rates.detected), " frames/s");
    add_value(number(overlay_.latency.p50), " ms");
    return parts;
  }

  const Overlay& overlay_;
  const Rect place_;
};

}  // namespace

void add_tile(Scene& scene, TextCache& text, const Overlay& overlay, Size output, const Rect& place,
              bool is_chosen, double density) {
  TilePainter(scene, text, overlay, output, place, density).add(is_chosen);
}

void add_panels(Scene& scene, TextCache& text, const Overlay& overlay, Size output, double density) {
  Panels(scene, text, overlay, output, density).add();
}

}  // namespace sightline::display
