#include "base/json_problem.hpp"

#include <string_view>

#include "base/utf8.hpp"

namespace sightline {
namespace {

// It quotes what it read last, which may be a whole file in one string.
constexpr std::size_t kMostBytes = 200;

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

}  // namespace sightline
