#pragma once
/// Accuracy of face recognition: pairs of photos (verification), and photos of known and unknown people
/// (identification).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"

namespace sightline::recognition {

/// Two photos by name.
struct NamedPair {
  std::string fold;
  std::string first, second;
  bool is_same = false;
};

/// Reads lines `fold photo photo same`, with 1 for one person and 0 for two. Throws Error (input): the file,
/// the line and the reason; where there are not two folds, or one has not both kinds.
std::vector<NamedPair> load_named_pairs(const std::filesystem::path& file);

struct VerificationResult {
  double accuracy = 0;  ///< mean of the folds'
  double error = 0;     ///< standard error of that mean
  std::vector<double> folds;
  double equal_error_rate = 0;  ///< rate at which false rejects equal false accepts
  std::vector<DetPoint> curve;  ///< false positives per pair of two people; thresholds are distances, negated
};

/// The accuracy of each fold is the share of its pairs that are on the right side of the distance which is
/// best for the others together; of equally good ones the smallest. (The protocol of G. B. Huang et al.,
/// "Labeled Faces in the Wild", 2007.)
/// @param distances  by pair
VerificationResult verify(std::span<const NamedPair> pairs, std::span<const std::uint32_t> distances);

/// A photo with its person and role.
struct NamedPhoto {
  enum class Role { gallery, probe, unknown };
  Role role = Role::gallery;
  std::string person, photo;
};

/// Reads lines `gallery|probe|unknown person photo`. Throws Error (input): the file, the line and the reason;
/// for a probe of a person outside the gallery, an unknown person inside it, and a missing gallery or probe.
std::vector<NamedPhoto> load_named_photos(const std::filesystem::path& file);

struct IdentificationResult {
  std::size_t people = 0, gallery = 0, probes = 0, unknown = 0;
  std::vector<double> cumulative;  ///< cumulative match curve: share of probes with the right person among
                                   ///< the first 1, 2, ...
  /// Miss: a probe that is not named rightly or not near enough. False positives per unknown face; empty
  /// without unknown ones.
  std::vector<DetPoint> curve;
};

/// Identification by the nearest photo of each person; ties go to the first person in the gallery.
/// @param distance  distance between a photo and a gallery photo, given by their indices in the list
IdentificationResult identify(std::span<const NamedPhoto> photos,
                              const std::function<std::uint32_t(std::size_t, std::size_t)>& distance,
                              std::size_t ranks);

}  // namespace sightline::recognition
