#pragma once
/// Keys of a detector whose values `sightline measure` compares side by side.

#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "family/family.hpp"

namespace sightline::apps {

/// A key of the detector, and the values of it that are compared. Families that share its option may have
/// different values: what "all" stands for is the detector's family's.
struct ComparedKey {
  VariantAxis axis;                 ///< the first family's
  std::vector<std::string> values;  ///< of all families
  std::vector<int> numbers;         ///< that were asked for
  std::vector<std::string> texts;   ///< likewise
};

/// One of the detectors that are compared.
struct ComparedVariant {
  DetectorSetting setting;
  std::string name;     ///< for people
  std::string kernels;  ///< where only these differ
};

/// Keys that the families can compare, one for each name, with the help of the first and the values of all.
std::vector<ComparedKey> compared_keys();

/// Requested values of a key. Throws the errors of finding the detector's family.
std::vector<ComparedVariant> variants_of(const ComparedKey& key, const DetectorOptions& detector);

}  // namespace sightline::apps
