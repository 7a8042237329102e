#pragma once
/// Identity of an object, pooled over several frames.

#include <string>
#include <vector>

#include "processing/attributes.hpp"

namespace sightline {

/// Pools the identities (DetectionAttributes) that the frames of one track name, so that its name does not
/// flicker: of each identity the mean distance, in which a frame counts for less the longer ago it was. A
/// frame's list ends after a few; those that it leaves out are at least as far away as its last,
/// and count as that far.
///
/// The nearest on average gives the object its name where its mean is within the limit. A name once given is
/// kept until the mean is further than kKept times that, or another is nearer. What comes out depends on the
/// calls alone. Thread-safety: a value.
class IdentityPool {
 public:
  /// Takes what one frame says, from the second on with less and less weight on the frames before: the last
  /// kMemory count for two thirds. Frames without identities are passed over.
  void add(const SharedAttributes& attributes);

  /// Attributes of a frame with the name, distance and identities of all frames; as they are where no frame
  /// had identities.
  SharedAttributes pooled(const SharedAttributes& attributes) const;

  /// Forgets identities that are not in `known`. Without the one that gave the name, it begins anew.
  void keep_only(const std::vector<std::string>& known);

  static constexpr int kMemory = 20;      ///< frames
  static constexpr double kKept = 1.05;   ///< of the limit
  static constexpr int kIdentities = 16;  ///< of a track, the nearest

 private:
  std::vector<Identity> identities_;  ///< with their mean distances, the nearest first
  double others_ = 0;                 ///< mean of the frames' last identities: what is not listed is as far
  double limit_ = 0;                  ///< of the last frame
  int frames_ = 0;                    ///< up to kMemory
  std::string name_;                  ///< as given after the last frame; empty: unknown
};

}  // namespace sightline
