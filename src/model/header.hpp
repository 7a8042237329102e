#pragma once
/// The texts in a model file's header, read and written. For the files' own readers and writers.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/safetensors.hpp"

namespace sightline {

/// The header's fields of one file, with errors that name them. Refers to the file and its path.
class ModelHeader {
 public:
  ModelHeader(const Safetensors& file, const std::filesystem::path& path) : file_(file), path_(path) {}

  [[noreturn]] void fail(const Message& problem, const Message& remedy = {}) const {
    throw Error(ExitCode::model, problem, remedy).at(path_.string());
  }

  std::string text(const std::string& key) const {
    const std::string* found = find(key);
    if (!found) fail("the header has no '" + key + "'", "this is not a Sightline model");
    return *found;
  }

  /// Null if there is none.
  const std::string* find(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? nullptr : &found->second;
  }

  void expect(const std::string& key, std::string_view value, std::string_view remedy) const {
    if (text(key) != value) {
      fail("'" + key + "' is '" + text(key) + "', but this program reads '" + std::string(value) + "'",
           remedy);
    }
  }

  /// Exactly `count` numbers separated by `separator`.
  std::vector<double> numbers(const std::string& key, std::size_t count, char separator) const {
    const std::vector<double> result = numbers(key, separator);
    if (result.size() != count) {
      fail("'" + key + "' is '" + text(key) + "', which is not " +
           (count == 1 ? "a finite number" : std::to_string(count) + " finite numbers"));
    }
    return result;
  }

  /// Any number of them; none at all where one is not usable.
  std::vector<double> numbers(const std::string& key, char separator) const {
    const std::string value = text(key);
    std::vector<double> result;
    const char* at = value.data();
    const char* const end = at + value.size();
    for (;;) {
      double number = 0;
      const auto [stop, error] = std::from_chars(at, end, number);
      const bool usable = error == std::errc() && std::isfinite(number);
      if (usable) result.push_back(number);
      at = usable ? stop : nullptr;
      if (at == nullptr || at == end || *at != separator) break;
      ++at;
    }
    return at == end ? result : std::vector<double>();
  }

  double number(const std::string& key, double smallest, double largest) const {
    const double value = numbers(key, 1, ',')[0];
    if (value < smallest || value > largest) fail("'" + key + "' is " + text(key) + ", out of range");
    return value;
  }

  std::int64_t integer(const std::string& key, double smallest, double largest) const {
    const double value = number(key, smallest, largest);
    if (value != std::floor(value)) fail("'" + key + "' is " + text(key) + ", which is not a whole number");
    return static_cast<std::int64_t>(value);
  }

 private:
  const Safetensors& file_;
  const std::filesystem::path& path_;
};

/// The numbers as texts that `ModelHeader::numbers` reads back exactly.
inline std::string join_numbers(const std::vector<double>& values, char separator) {
  std::string text;
  for (const double value : values) {
    if (!text.empty()) text += separator;
    char buffer[32];
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  return text;
}

}  // namespace sightline
