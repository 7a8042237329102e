#pragma once
/// The distance above which a face is unknown in a gallery.

#include <cstdint>
#include <optional>
#include <string>

#include "faces/gallery/face_finder.hpp"

namespace sightline::gallery {

/// Result of a calibration.
struct Calibration {
  Threshold threshold;
  std::int64_t probes = 0;  ///< templates that were taken for a stranger's, each compared with all of others
  double mistaken_at_most = 1;  ///< upper bound, with 95% confidence, of the share of strangers like the
                                ///< gallery's people with a false match by any of their pictures
  std::int64_t own_probes = 0;  ///< templates of people with at least two
  std::int64_t own_known = 0;   ///< own_probes that are recognised by the person's other templates
};

/// Computes the threshold for a false-match rate. Each person's templates serve as impostors for the gallery
/// without that person, with the distance to the nearest template. The threshold is the largest one with
/// false matches for at most `rate` of these templates. With fewer people than 1 / rate, this is only an
/// upper limit, and the model's impostor distribution applies if it is stricter: a share of rate / templates
/// of pairs, since an impostor may match any template.
///
/// The confidence is Clopper and Pearson's ("The use of confidence or fiducial limits", Biometrika 26, 1934),
/// over people, not pictures, since those of one person are not independent. Takes all templates, or 4096
/// spread evenly, times all others; on all threads.
/// @param rate  0..1
/// Throws Error (input) if neither gallery nor model tell anything, and where two people have one
/// template.
Calibration calibrate(const Snapshot& gallery, const FaceFinder& finder, double rate);

/// The upper end of the one-sided 95% interval of a share of which `hits` of `tries` were seen.
double share_at_most(std::int64_t hits, std::int64_t tries);

}  // namespace sightline::gallery
