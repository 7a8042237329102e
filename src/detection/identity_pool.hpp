#pragma once
/// Identity of an object, pooled over several frames.

#include <string>
#include <vector>

#include "frame/attributes.hpp"

namespace sightline {

/// Averages the identities (DetectionAttributes) over the frames of one track, so that its name does not
/// flicker. Each identity has a mean distance in which older frames weigh less. A frame lists its few nearest
/// identities; the others are at least as distant as the last one and count with its distance.
///
/// The identity with the lowest mean names the object if that mean is within the limit. The name stays until
/// its mean exceeds kKept times the limit or another identity is nearer. The result depends on the calls
/// alone. Thread-safety: a value.
class IdentityPool {
 public:
  /// Adds a frame's identities with exponential weights: the last kMemory frames have two thirds of the
  /// weight. Frames without identities are ignored.
  void add(const SharedAttributes& attributes);

  /// A frame's attributes with the pooled name, distance and identities; unchanged if no frame had
  /// identities.
  SharedAttributes pooled(const SharedAttributes& attributes) const;

  /// Forgets identities that are not in `known`; if the one that gave the name is among them, starts over.
  void keep_only(const std::vector<std::string>& known);

  static constexpr int kMemory = 20;      ///< frames
  static constexpr double kKept = 1.05;   ///< factor of the limit
  static constexpr int kIdentities = 16;  ///< nearest identities kept per track

 private:
  std::vector<Identity> identities_;  ///< with mean distances, nearest first
  double others_ = 0;                 ///< mean distance of the frames' last identities, for unlisted ones
  double limit_ = 0;                  ///< limit of the last frame
  int frames_ = 0;                    ///< up to kMemory
  std::string name_;                  ///< name after the last frame; empty: unknown
};

}  // namespace sightline
