#include "display/text_cache.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::display {
namespace {

bool stands_alone(char c) {
  return (c >= '0' && c <= '9') || c == ' ' || c == '.' || c == ',' || c == ':';
}

std::size_t size_of(const TextMask& mask) {
  return static_cast<std::size_t>(mask.coverage.width()) * static_cast<std::size_t>(mask.coverage.height());
}

}  // namespace

std::size_t TextCache::first_run(std::string_view text) {
  if (stands_alone(text[0])) return 1;
  std::size_t length = 1;
  while (length < text.size() && !stands_alone(text[length])) ++length;
  return length;
}

TextCache::Run& TextCache::run_of(std::string_view text, const Font& font) {
  const auto found = index_.find(View(font.size, font.bold, text));
  if (found != index_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return order_.front().run;
  }
  std::string owned(text);
  TextMask mask = make_text_mask(owned, font.size, font.bold ? FontWeight::bold : FontWeight::normal);
  order_.push_front({{font.size, font.bold, std::move(owned)}, {std::move(mask), nullptr}});
  const Key& key = order_.front().key;
  index_.emplace(View(std::get<0>(key), std::get<1>(key), std::get<2>(key)), order_.begin());
  bytes_ += size_of(order_.front().run.mask);
  while (order_.size() > 1 && (order_.size() > kMaxRuns || bytes_ > kMaxBytes)) {
    const Entry& oldest = order_.back();
    bytes_ -= size_of(oldest.run.mask);
    index_.erase(View(std::get<0>(oldest.key), std::get<1>(oldest.key), std::get<2>(oldest.key)));
    order_.pop_back();
  }
  return order_.front().run;
}

int TextCache::width(std::string_view text, const Font& font) {
  double pen = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = first_run(rest);
    pen += run_of(rest.substr(0, length), font).mask.advance;
    rest.remove_prefix(length);
  }
  return static_cast<int>(std::ceil(pen));
}

std::string TextCache::fit(std::string_view text, const Font& font, int limit) {
  if (width(text, font) <= limit) return std::string(text);
  const Cut cut{font.size, font.bold, limit, std::string(text)};
  if (const auto known = cuts_.find(cut); known != cuts_.end()) return known->second;
  if (cuts_.size() >= kMaxCuts) cuts_.clear();
  return cuts_[cut] = cut_off(text, font, limit);
}

std::string TextCache::cut_off(std::string_view text, const Font& font, int limit) {
  // Measured without the cache: trial texts are not worth keeping.
  const auto measure = [&](const std::string& cut) {
    return make_text_mask(cut, font.size, font.bold ? FontWeight::bold : FontWeight::normal).advance;
  };
  std::size_t fits = 0, beyond = std::min(text.size(), std::size_t{256});
  while (beyond - fits > 1) {
    const std::size_t middle = (fits + beyond) / 2;
    (measure(std::string(text.substr(0, middle)) + "\u2026") <= limit - 1 ? fits : beyond) = middle;
  }
  while (fits > 0 && (static_cast<unsigned char>(text[fits]) & 0xC0) == 0x80) --fits;
  while (fits > 0 && text[fits - 1] == ' ') --fits;
  if (fits == 0) return {};
  const std::string cut = std::string(text.substr(0, fits)) + "\u2026";
  return width(cut, font) <= limit ? cut : std::string{};
}

void TextCache::clear() {
  index_.clear();
  order_.clear();
  cuts_.clear();
  bytes_ = 0;
}

}  // namespace sightline::display
