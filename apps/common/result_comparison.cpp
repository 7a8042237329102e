#include "apps/common/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json_problem.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "detection/result_writer.hpp"

namespace sightline::apps {
namespace {

using JsonValue = nlohmann::json;  // equal in whatever order the keys are

constexpr const char* kNothing = "(nothing)";

[[noreturn]] void refuse(const std::string& file, std::size_t line) {
  throw Error(ExitCode::input,
              fmt::format("'{}'{} holds no results", file, line > 0 ? fmt::format(" line {}", line) : ""),
              "give a file that `sightline detect --detections` wrote as jsonl or json");
}

bool is_frame(const JsonValue& frame) {
  const auto has = [&](const char* key, auto is_right) {
    const auto found = frame.find(key);
    return found != frame.end() && is_right(*found);
  };
  return frame.is_object() && has("source", [](const JsonValue& one) { return one.is_string(); }) &&
         has("frame", [](const JsonValue& one) { return one.is_null() || one.is_number_integer(); }) &&
         (!frame.contains("picture") || frame["picture"].is_string()) &&
         has("objects", [](const JsonValue& one) {
           return one.is_array() &&
                  std::ranges::all_of(one, [](const JsonValue& object) { return object.is_object(); });
         });
}

// From outside.
JsonValue parsed(const std::string& text, const std::string& file) {
  try {
    check_json_limits(text);
  } catch (const Error& error) {
    throw error.at("'" + file + "'");
  }
  return JsonValue::parse(text, nullptr, false);
}

JsonValue frame_of(const std::string& line, const std::string& file, std::size_t place) {
  const JsonValue frame = parsed(line, file);
  if (!is_frame(frame)) refuse(file, place);
  return frame;
}

// Calls `use` with each frame of a file, as a line.
void read_frames(const std::string& file, const std::function<void(const std::string&, std::size_t)>& use) {
  if (guess_result_format(file) == ResultFormat::json) {
    const JsonValue document = parsed(read_text_file(file), file);
    if (!document.is_object() || !document.contains("frames") || !document["frames"].is_array())
      refuse(file, 0);
    for (const JsonValue& frame : document["frames"]) use(frame.dump(), 0);
    return;
  }
  refuse_special_file(file);
  std::ifstream stream(file);  // of any length
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.empty()) use(line, number);
  }
  if (!stream.eof()) throw Error(ExitCode::input, "cannot read '" + file + "'");
}

std::string source_name(const std::string& source) {
  const std::string name = std::filesystem::path(source).filename();
  return name.empty() ? source : name;
}

std::string value_text(const JsonValue& value) {
  constexpr std::size_t kLongest = 200;
  std::string text = value.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return printable(text);
}

struct FieldDifference {
  std::string field, expected, found;
};

// The first field that differs, by name, but the digest last.
std::optional<FieldDifference> difference_of_fields(const JsonValue& a, const JsonValue& b);

std::optional<FieldDifference> difference_of_objects(const JsonValue& a, const JsonValue& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string name = fmt::format("object {}", i + 1);
    if (i >= a.size()) return FieldDifference{name, kNothing, value_text(b[i])};
    if (i >= b.size()) return FieldDifference{name, value_text(a[i]), kNothing};
    if (auto difference = difference_of_fields(a[i], b[i])) {
      difference->field = name + ", " + difference->field;
      return difference;
    }
  }
  return std::nullopt;
}

std::optional<FieldDifference> difference_of_fields(const JsonValue& a, const JsonValue& b) {
  for (const auto& [key, value] : a.items()) {
    if (key == "source" || key == "digest") continue;
    if (!b.contains(key)) return FieldDifference{key, value_text(value), kNothing};
    if (value == b[key]) continue;
    if (key != "objects") return FieldDifference{key, value_text(value), value_text(b[key])};
    if (auto difference = difference_of_objects(value, b[key])) return difference;
  }
  for (const auto& [key, value] : b.items()) {
    if (key != "digest" && !a.contains(key)) return FieldDifference{key, kNothing, value_text(value)};
  }
  if (a.contains("digest") && b.contains("digest") && a["digest"] != b["digest"])
    return FieldDifference{"digest", value_text(a["digest"]), value_text(b["digest"])};
  return std::nullopt;
}

std::tuple<std::string, std::string, std::int64_t> key_of(const JsonValue& frame) {
  const JsonValue& number = frame["frame"];
  return {source_name(frame["source"]), frame.value("picture", std::string()),
          number.is_null() ? 0 : number.get<std::int64_t>()};
}

std::string key_text(const std::tuple<std::string, std::string, std::int64_t>& key) {
  const auto& [source, picture, number] = key;
  return printable(source + (picture.empty() ? "" : '/' + picture)) +
         (number > 0 ? fmt::format(", frame {}", number) : "");
}

}  // namespace

ResultComparison::ResultComparison(const std::string& file, std::string found_name)
    : file_(file), found_name_(std::move(found_name)) {
  std::size_t place = 0;
  read_frames(file, [&](const std::string& line, std::size_t number) {
    const JsonValue frame = frame_of(line, file, number);
    has_digests_ = has_digests_ || frame.contains("digest");
    stored_[key_of(frame)].push_back({line, ++place});
  });
  if (place == 0) refuse(file, 0);
}

void ResultComparison::note(Difference difference) {
  if (!first_ || difference.place < first_->place) first_ = std::move(difference);
}

void ResultComparison::compare(const std::string& line, std::size_t place) {
  ++frames_;
  const JsonValue found = frame_of(line, found_name_, place);
  const Key key = key_of(found);
  const auto stored = stored_.find(key);
  if (stored == stored_.end()) {
    ++extra_;
    return note({last_place_ + 1, key_text(key), "no such frame", "a frame"});
  }
  const Stored expected = std::move(stored->second.front());
  stored->second.pop_front();
  if (stored->second.empty()) stored_.erase(stored);
  last_place_ = std::max(last_place_, expected.place);
  if (expected.line == line) return;
  if (auto one = difference_of_fields(JsonValue::parse(expected.line), found)) {
    ++differing_;
    note({expected.place, key_text(key) + ", " + one->field, one->expected, one->found});
  }
}

void ResultComparison::compare_file(const std::string& file) {
  read_frames(file, [&](const std::string& line, std::size_t number) { compare(line, number); });
}

void ResultComparison::finish() {
  for (const auto& [key, frames] : stored_) {
    for (const Stored& one : frames) {
      ++frames_;
      ++missing_;
      note({one.place, key_text(key), "a frame", "no such frame"});
    }
  }
  stored_.clear();
}

std::string ResultComparison::text() const {
  const std::string file = printable(file_);
  if (!first_) return fmt::format("{} as in '{}', all fields equal\n", counted(frames_, "frame"), file);
  std::vector<std::string> kinds;
  if (missing_ > 0) kinds.push_back(fmt::format("{} missing", missing_));
  if (extra_ > 0) kinds.push_back(fmt::format("{} extra", extra_));
  return fmt::format(
      "{} of {} from '{}'{}\n"
      "first difference: {}\n"
      "  expected: {}\n"
      "  found:    {}\n",
      differing_ + missing_ + extra_,
      counted(frames_, "frame") + (differing_ + missing_ + extra_ == 1 ? " differs" : " differ"), file,
      kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, ", ")), first_->where, first_->expected,
      first_->found);
}

}  // namespace sightline::apps
