#pragma once
/// Names that may currently be shown. Results that outlive their frame, such as a tracker's, must drop names
/// that have been deleted meanwhile.

#include <memory>
#include <string>
#include <vector>

#include "frame/attributes.hpp"

namespace sightline {

/// Names of the people that a detector can recognise. Thread-safe.
class KnownNames {
 public:
  virtual ~KnownNames() = default;
  /// All current names; never null.
  virtual std::shared_ptr<const std::vector<std::string>> names() const = 0;
};

/// The names of several detectors together; those that are null add none. Null if all are.
std::shared_ptr<const KnownNames> joined(const std::vector<std::shared_ptr<const KnownNames>>& several);

/// The attributes with names that are not in `known` replaced by unknown.
SharedAttributes without_forgotten(const SharedAttributes& attributes, const std::vector<std::string>& known);

}  // namespace sightline
