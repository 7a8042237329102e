#include "detectors/filterbank/descriptor.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace sightline::filterbank {
namespace {
constexpr std::array<std::pair<Normalisation, std::string_view>, 3> kNormalisations{{
    {Normalisation::l1_sqrt, "l1-sqrt"},
    {Normalisation::l1, "l1"},
    {Normalisation::l2, "l2"},
}};
}  // namespace

// The sum of squares is at most the sum times the maximum.
double largest_block_length(Normalisation normalisation) {
  return normalisation == Normalisation::l1 ? std::sqrt(double{kL1Gain} * kL1Largest) : 1.0;
}

std::string to_text(Normalisation normalisation) {
  for (const auto& [value, name] : kNormalisations) {
    if (value == normalisation) return std::string(name);
  }
  return "";
}

std::optional<Normalisation> parse_normalisation(std::string_view text) {
  for (const auto& [value, name] : kNormalisations) {
    if (name == text) return value;
  }
  return std::nullopt;
}

std::string describe(const Descriptor& descriptor) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const Descriptor standard;
  const std::string side = std::to_string(descriptor.patch);
  if (descriptor.patch != standard.patch) add(side + "x" + side + " patches");
  if (descriptor.contrast_sensitive()) add("contrast-sensitive");
  if (descriptor.signed_value()) add("signed responses");
  if (descriptor.patterns) add("uniform patterns");
  if (descriptor.normalisation != standard.normalisation) add(to_text(descriptor.normalisation));
  return text;
}

}  // namespace sightline::filterbank
