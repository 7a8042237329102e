#include "apps/common/compared_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "detectors/families.hpp"

namespace sightline::apps {
namespace {

// What "all" stands for.
std::vector<std::string> all_values(const ComparedKey& key, const FamilyInfo& family) {
  for (const VariantAxis& axis : family.variant_axes) {
    if (axis.option.name == key.axis.option.name) return axis.values;
  }
  return key.axis.values;  // one is enough to be told that the detector does not read the key
}

}  // namespace

std::vector<ComparedVariant> variants_of(const ComparedKey& key, const DetectorOptions& detector) {
  std::vector<ComparedVariant> variants;
  const auto add = [&](DetectorSetting::Value setting, const std::string& value) {
    variants.push_back({{key.axis.parameter, key.axis.option, {}, std::move(setting)},
                        value + ' ' + key.axis.noun,
                        key.axis.only_kernels ? value : std::string()});
  };
  for (const int number : key.numbers) add(std::optional(number), std::to_string(number));
  const bool all = key.texts == std::vector<std::string>{"all"};
  for (const std::string& text : all ? all_values(key, detector.family().info()) : key.texts) add(text, text);
  return variants;
}

std::vector<ComparedKey> compared_keys() {
  std::vector<ComparedKey> keys;
  for (const Family* family : families()) {
    for (const VariantAxis& axis : family->info().variant_axes) {
      const auto same = [&](const ComparedKey& key) { return key.axis.option.name == axis.option.name; };
      const auto known = std::ranges::find_if(keys, same);
      if (known == keys.end()) {
        keys.push_back({axis, axis.values, {}, {}});
        continue;
      }
      known->axis.option.help += fmt::format("; {}: {}", family->info().title, fmt::join(axis.values, ", "));
      for (const std::string& value : axis.values) {
        if (std::ranges::find(known->values, value) == known->values.end()) known->values.push_back(value);
      }
    }
  }
  return keys;
}

}  // namespace sightline::apps
