#include "base/json_problem.hpp"

#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sightline {
namespace {

// nlohmann's messages quote the last token, which may be a whole file in one string.
constexpr std::size_t kMostBytes = 200;

constexpr int kMaxJsonValues = 4'000'000;

void leave_out(std::string_view& text, std::string_view beginning) {
  if (text.starts_with(beginning)) text.remove_prefix(beginning.size());
}

}  // namespace

std::string json_problem(const std::exception& error) {
  std::string_view text = error.what();
  if (text.starts_with("[json.exception.")) {
    if (const std::size_t end = text.find("] "); end != std::string_view::npos) text.remove_prefix(end + 2);
  }
  leave_out(text, "parse error at ");
  if (text.size() <= kMostBytes) return printable(text);
  return printable(text.substr(0, kMostBytes)) + "...";
}

void check_json_limits(std::string_view text) {
  int depth = 0, values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxTextDepth) {
        throw Error(ExitCode::input, "it is nested deeper than " + std::to_string(kMaxTextDepth) + " levels");
      }
      ++values;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',') {
      ++values;
    }
    if (values > kMaxJsonValues)
      throw Error(ExitCode::input, "it has more than " + std::to_string(kMaxJsonValues) + " values");
  }
}

}  // namespace sightline
