#pragma once
/// Commands of a family's own: `sightline FAMILY NAME`.

#include <string>

#include "family/model_show.hpp"
#include "params/options.hpp"

namespace sightline {

/// As with ModelShow, the values of its options go into the object itself, so that one object serves one
/// command. Thread-safety: one thread at a time.
class FamilyCommand {
 public:
  virtual ~FamilyCommand() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  virtual OptionSet options() = 0;
  /// Throws Error.
  virtual void run(const ShowContext& context) = 0;
};

}  // namespace sightline
