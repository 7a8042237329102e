#include "apps/measure/characterisation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "characterisation/decisions.hpp"
#include "characterisation/knees.hpp"

namespace sightline::apps {
namespace {

using characterisation::Characteristics;
using characterisation::Curve;
using characterisation::Figure;
using characterisation::Point;

constexpr std::size_t kKeyWidth = 20;
constexpr std::size_t kTextWidth = 100;

// Words on lines of at most `width`, the second and further ones indented by `indent`.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (column > indent && column + 1 + end - begin > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return result;
}

class Screen {
 public:
  explicit Screen(const Characteristics& processor) : p_(processor) {}

  // Where there is nothing to say, there is no line.
  void row(const std::string& key, const std::string& value) {
    if (value.empty()) return;
    text_ += fmt::format("  {:<{}}{}\n", key, kKeyWidth, wrapped(value, kKeyWidth + 2, kTextWidth));
  }
  void add(const std::string& text) { text_ += text; }
  const std::string& text() const { return text_; }

  // "float 160, int 80" of those figures that there are.
  std::string figures(const std::vector<std::pair<const char*, const char*>>& names,
                      const std::string& unit) const {
    std::string list;
    for (const auto& [id, name] : names) {
      const double value = p_.figure(id);
      if (value > 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, digits_text(value));
    }
    return list.empty() ? "" : list + " " + unit;
  }

  // The best value of a curve at the first place from x on; empty where there is none.
  std::string at(const char* id, double x, const std::string& before) const {
    const Curve* const curve = p_.curve(id);
    if (!curve) return "";
    for (const Point& point : curve->points)
      if (point.x >= x) return before + digits_text(curve->best(point));
    return "";
  }

 private:
  const Characteristics& p_;
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string with_unit(const std::string& text, const char* unit) {
  return text.empty() ? "" : text + " " + unit;
}

std::string caches_text(const Characteristics& p) {
  if (p.memory_ns <= 0) return "";
  std::vector<std::string> parts;
  for (const auto& level : p.caches)
    parts.push_back(fmt::format("{} at {}", bytes_text(level.bytes), digits_text(level.ns)));
  parts.push_back(fmt::format("memory at {} ns (arrays up to {})", digits_text(p.memory_ns),
                              bytes_text(p.largest_array)));
  return joined(parts);
}

std::string best_group(const Characteristics& p, const char* id, const char* name) {
  const Curve* const curve = p.curve(id);
  if (!curve || curve->points.empty()) return "";
  const Point* best = &curve->points.front();
  for (const Point& point : curve->points)
    if (curve->best(point) > curve->best(*best)) best = &point;
  return fmt::format("{} {} ({:.0f})", name, digits_text(curve->best(*best)), best->x);
}

std::string banks_text(const Characteristics& p) {
  const Curve* const curve = p.curve("banks.sub_group");
  if (!curve) return "";
  const int banks = characterisation::bank_count(characterisation::samples_of(*curve));
  return banks > 0 ? fmt::format("{} banks", banks) : "no conflicts of banks";
}

std::string frame_text(const Screen& screen, const char* direction) {
  std::vector<std::string> parts;
  for (const char* kind : {"pageable", "pinned", "mapped"}) {
    const std::string id = fmt::format("transfer.{}.{}", kind, direction);
    parts.push_back(screen.at(id.c_str(), characterisation::kFrameBytes, std::string(kind) + " "));
  }
  return with_unit(joined(parts), "GB/s");
}

std::string operations_text(const Characteristics& p, const char* type) {
  std::string text;
  for (const auto& [id, sign] : std::initializer_list<std::pair<const char*, const char*>>{
           {"add", "+"}, {"subtract", "-"}, {"multiply", "*"}, {"divide", "/"}}) {
    const double value = p.figure(fmt::format("latency.{}.{}", type, id));
    if (value > 0) text += fmt::format(" {} {}", sign, digits_text(value));
  }
  return text.empty() ? "" : type + text;
}

std::string units_text(const Characteristics& p) {
  const double group = p.figure("parallel.group.knee"), groups = p.figure("parallel.groups.knee");
  std::vector<std::string> parts;
  if (p.figure("sub_group") > 0)
    parts.push_back(fmt::format("{:.0f} work-items go together", p.figure("sub_group")));
  if (group > 0) parts.push_back(fmt::format("a group is as fast up to {:.0f} work-items", group));
  if (groups > 0) parts.push_back(fmt::format("the device up to {:.0f} groups", groups));
  return joined(parts);
}

void add_device_rows(Screen& screen, const Characteristics& p) {
  screen.row("copy, GB/s", joined({best_group(p, "copy.group.float4", "four words a work-item"),
                                   best_group(p, "copy.group.float", "a word")}) +
                               (p.curve("copy.group.float") ? " (best work-group)" : ""));
  screen.row("reading by width",
             with_unit(joined({screen.at("read.width", 1, "1 word "), screen.at("read.width", 4, "4 words "),
                               screen.at("read.width", 16, "16 words ")}),
                       "GB/s"));
  screen.row("frame of 2 MB up", frame_text(screen, "up"));
  screen.row("frame of 2 MB down", frame_text(screen, "down"));
  screen.row("local memory",
             joined({with_unit(screen.at("latency.local", 1, ""), "ns a read in a chain"), banks_text(p)}));
  screen.row("units", units_text(p));
  screen.row("branches",
             with_unit(joined({screen.at("divergence", 2, "2 ways "), screen.at("divergence", 8, "8 ways "),
                               screen.at("divergence", 32, "32 ways ")}),
                       "times one way"));
}

void add_spreads(Screen& screen, const Characteristics& p) {
  screen.add(fmt::format("\n  {:<58}{:>10}{:>10}{:>10}  {}\n", "figure", "smallest", "median", "largest",
                         "unit, clock"));
  for (const Figure& f : p.figures)
    screen.add(fmt::format("  {:<58}{:>10}{:>10}{:>10}  {}{}{}\n", f.title, digits_text(f.value.smallest),
                           digits_text(f.value.median), digits_text(f.value.largest), f.unit,
                           f.unit.empty() ? "" : ", ", to_string(f.clock)));
}

// What was waited for longest comes first.
std::string took_text(const Characteristics& p) {
  std::vector<std::string> parts;
  if (p.build_seconds > 0) parts.push_back(fmt::format("kernels built {:.1f}", p.build_seconds));
  std::vector<characterisation::Part> longest = p.parts;
  std::ranges::stable_sort(longest, std::greater<>(), &characterisation::Part::seconds);
  for (const characterisation::Part& part : longest)
    parts.push_back(fmt::format("{} {:.1f}", part.what, part.seconds));
  return joined(parts);
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

std::string digits_text(double value) {
  if (value <= 0) return "0";
  const int digits = 2 - static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 5));
}

std::string processor_title(const Characteristics& p) {
  return p.is_host() ? p.name + ", the CPU by itself" : p.name + " (" + p.type + " by OpenCL)";
}

std::string characterisation_text(const Characteristics& p) {
  Screen screen(p);
  screen.add(processor_title(p) + "\n");
  screen.row("measured",
             p.is_host() ? fmt::format("{}, {} threads, in {:.1f} s", p.driver, p.compute_units, p.seconds)
                         : fmt::format("{}, driver {}, {} compute units, in {:.1f} s", p.platform, p.driver,
                                       p.compute_units, p.seconds));
  screen.row("took, s", took_text(p));
  screen.row("caches", caches_text(p));
  screen.row("multiply-adds", screen.figures({{"peak.float", "float"},
                                              {"peak.int", "int"},
                                              {"peak.half", "half"},
                                              {"peak.double", "double"},
                                              {"peak.dot", "bytes"}},
                                             "G/s"));
  screen.row("an operation, ns", joined({operations_text(p, "int"), operations_text(p, "float")}));
  screen.row("reads that hit", screen.figures({{"cached.global", p.is_host() ? "nearest cache" : "global"},
                                               {"cached.local", "local"},
                                               {"cached.constant", "constant"}},
                                              "GB/s"));
  screen.row("copy in memory", screen.figures({{"copy.threads", "all threads"}}, "GB/s read and written"));
  if (!p.is_host()) add_device_rows(screen, p);
  screen.row(
      "atomic additions",
      with_unit(joined({screen.at("atomics.global", 1, p.is_host() ? "one counter " : "global: one counter "),
                        screen.at("atomics.global", 1024, "1024 "),
                        screen.at("atomics.local", 1, "local: one counter "),
                        screen.at("atomics.local", 1024, "1024 ")}),
                "G/s"));
  screen.row(p.is_host() ? "parallel loop" : "launch",
             screen.figures({{"launch.latency", p.is_host() ? "on all threads" : "until done"},
                             {"launch.interval", "in a row"},
                             {"launch.event", "an event alone"}},
                            "us"));
  if (!p.decisions.empty()) screen.add("  Conclusions\n");
  for (const auto& decision : p.decisions) screen.add("   - " + wrapped(decision.text, 5, kTextWidth) + "\n");
  for (const auto& loss : p.losses) screen.row("lost: " + loss.what, loss.why);
  if (p.thorough) add_spreads(screen, p);
  return screen.text();
}

}  // namespace sightline::apps
