// The power log of an external meter.

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"
#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Seconds east of UTC from "Z", "+01:00", "-0330" or "+01".
std::optional<int> parse_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  std::string digits(text.substr(0, std::min<std::size_t>(text.size(), 1)));
  const bool west = digits == "-";
  if (!west && digits != "+") return std::nullopt;
  digits = text.substr(1);
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  const bool all_digits =
      std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
  if (!all_digits || (digits.size() != 2 && digits.size() != 4)) return std::nullopt;
  const int hours = std::stoi(digits.substr(0, 2));
  const int minutes = digits.size() == 4 ? std::stoi(digits.substr(2)) : 0;
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 60 + minutes) * 60;
}

// Seconds since 1970-01-01 UTC.
std::optional<double> parse_iso_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, length = 0;
  char separator = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%n", &year, &month, &day, &separator, &hour, &minute,
                  &length) != 6 ||
      length == 0) {
    return std::nullopt;
  }
  const char* const last = text.data() + text.size();
  double second = 0;
  const auto [rest, fault] = std::from_chars(text.data() + length, last, second, std::chars_format::fixed);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  const bool valid = fault == std::errc() && date.ok() && (separator == 'T' || separator == ' ') &&
                     hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
  if (!valid) return std::nullopt;
  if (rest == last) {
    std::tm local{};
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day;
    local.tm_hour = hour;
    local.tm_min = minute;
    local.tm_isdst = -1;
    return static_cast<double>(std::mktime(&local)) + second;
  }
  const std::optional<int> offset = parse_offset({rest, static_cast<std::size_t>(last - rest)});
  if (!offset) return std::nullopt;
  const auto midnight = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(std::chrono::seconds(midnight).count() + hour * 3600 + minute * 60 - *offset) +
         second;
}

struct Sample {
  double time;
  double watts;
};

// Reads a log line by line.
class LogReader {
 public:
  explicit LogReader(const fs::path& path) : path_(path) {
    std::error_code ignored;
    // Opening a pipe would wait for its writer.
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) fail("is not a file");
    in_.open(path, std::ios::binary);
    if (!in_) fail("cannot be opened");
    if (next_line()) read_header();
  }

  /// Nothing at the end of what is there so far.
  std::optional<Sample> next() {
    do {
      if (!next_line()) return std::nullopt;
    } while (trimmed(line_).empty());
    const std::vector<std::string_view> cells = split_at_commas(line_);
    if (cells.size() != columns_) fail_line("has another number of cells than the header line");
    std::optional<double> time = parse_number(cells[time_column_]);
    if (!time) time = parse_iso_time(std::string(cells[time_column_]));
    if (!time) fail_line("has no time in seconds or ISO 8601");
    const std::optional<double> watts = parse_number(cells[watts_column_]);
    if (!watts) fail_line("has no number of watts");
    return Sample{*time, *watts};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ExitCode::input, "the power log " + path_.string() + " " + problem);
  }
  [[noreturn]] void fail_line(const std::string& problem) const {
    fail("has an error in line " + std::to_string(line_number_) + ": it " + problem);
  }

 private:
  bool next_line() {
    ++line_number_;
    return std::getline(in_, line_) && !in_.eof();  // at eof: the line has no end yet
  }

  void read_header() {
    refuse_wide_text(line_, path_);
    line_.erase(0, line_.size() - without_byte_order_mark(line_).size());
    std::transform(line_.begin(), line_.end(), line_.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::vector<std::string_view> names = split_at_commas(line_);
    columns_ = names.size();
    const auto column = [&](std::string_view name) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        fail("has no column '" + std::string(name) + "': its first line must name 'time' and 'watts'");
      }
      return static_cast<std::size_t>(found - names.begin());
    };
    time_column_ = column("time");
    watts_column_ = column("watts");
  }

  fs::path path_;
  std::ifstream in_;
  std::string line_;
  std::int64_t line_number_ = 0;
  std::size_t columns_ = 0;
  std::size_t time_column_ = 0;
  std::size_t watts_column_ = 0;
};

double joules_between(const Sample& a, const Sample& b, double from, double to) {
  from = std::max(from, a.time);
  to = std::min(to, b.time);
  if (from >= to) return 0;
  const double slope = (b.watts - a.watts) / (b.time - a.time);
  const double middle = (from + to) / 2;  // a trapezoid: its mean height is that of its middle
  return (a.watts + slope * (middle - a.time)) * (to - from);
}

std::string text_of(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

// Nothing where the log does not reach `to` yet; `last` is then the time of its last sample, if it has any.
std::optional<double> integrate(const fs::path& path, double from, double to, double longest_gap,
                                std::optional<double>& last) {
  LogReader log(path);
  last.reset();
  std::optional<Sample> before = log.next();
  if (!before) return std::nullopt;
  if (before->time > from) log.fail("begins " + text_of(before->time - from) + " after the run did");
  double joules = 0;
  while (before->time < to) {
    last = before->time;
    const std::optional<Sample> after = log.next();
    if (!after) return std::nullopt;
    if (after->time < before->time) log.fail_line("goes back in time");
    if (after->time - before->time > longest_gap && after->time > from) {
      log.fail("has a gap of " + text_of(after->time - before->time) + " during the run");
    }
    joules += joules_between(*before, *after, from, to);
    before = after;
  }
  return joules;
}

[[noreturn]] void fail_short(const fs::path& path, double to, const std::optional<double>& last) {
  throw Error(ExitCode::input,
              "the power log " + path.string() +
                  (last ? " ends " + text_of(to - *last) + " before the run did" : " has no samples"),
              "start the logger before the run and stop it afterwards");
}

class LogMeter : public Meter {
 public:
  LogMeter(const MeterOptions& options)
      : Meter("log " + options.log.string(), "the external meter's circuit", Seen::machine),
        options_(options) {
    LogReader header(options.log);  // a wrong one should show before the run, not after it
  }

  void start() override {
    from_ = options_.wall_clock();
    to_.reset();
  }
  void stop() override {
    if (from_ && !to_) to_ = options_.wall_clock();
  }
  double joules() override {
    if (!from_) throw Error(ExitCode::failed, name() + ": was not started");
    const double to = to_ ? *to_ : options_.wall_clock();
    if (to < *from_) throw Error(ExitCode::failed, name() + ": the system clock was set back during the run");
    std::optional<double> last;
    for (;;) {
      const std::optional<double> joules = integrate(options_.log, *from_, to, options_.log_gap, last);
      if (joules) return *joules;
      if (options_.wall_clock() >= to + options_.log_wait) fail_short(options_.log, to, last);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

 private:
  const MeterOptions options_;
  std::optional<double> from_;
  std::optional<double> to_;
};

}  // namespace

double joules_of_log(const fs::path& path, double from, double to, double longest_gap) {
  std::optional<double> last;
  const std::optional<double> joules = integrate(path, from, to, longest_gap, last);
  if (!joules) fail_short(path, to, last);
  return *joules;
}

void find_log(const MeterOptions& options, Meters& meters) {
  if (!options.log.empty()) meters.push_back(std::make_unique<LogMeter>(options));
}

}  // namespace sightline::pipeline
