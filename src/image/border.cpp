#include "image/border.hpp"

#include <algorithm>
#include <cstddef>

namespace sightline {

namespace {

// 0 .. divisor - 1, also for negative i.
std::int64_t modulo(std::int64_t i, std::int64_t divisor) {
  const std::int64_t rest = i % divisor;
  return rest < 0 ? rest + divisor : rest;
}

}  // namespace

const char* to_string(BorderRule rule) {
  constexpr const char* kNames[] = {"wrap", "clamp", "reflect", "skip"};
  return kNames[static_cast<std::size_t>(rule)];
}

std::optional<BorderRule> parse_border_rule(std::string_view text) {
  for (const BorderRule rule : {BorderRule::wrap, BorderRule::clamp, BorderRule::reflect, BorderRule::skip}) {
    if (text == to_string(rule)) return rule;
  }
  return std::nullopt;
}

std::int64_t inside_index(std::int64_t i, std::int64_t length, BorderRule rule) {
  if (i >= 0 && i < length) return i;
  switch (rule) {
    case BorderRule::wrap:
      return modulo(i, length);
    case BorderRule::reflect: {
      if (length == 1) return 0;
      const std::int64_t period = 2 * (length - 1);
      const std::int64_t place = modulo(i, period);
      return place < length ? place : period - place;
    }
    default:
      return std::clamp<std::int64_t>(i, 0, length - 1);
  }
}

}  // namespace sightline
