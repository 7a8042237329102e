#pragma once
/// The distance above which a face is unknown in a gallery.

#include <cstdint>
#include <optional>
#include <string>

#include "faces/gallery/face_finder.hpp"

namespace sightline::gallery {

/// What a calibration tells besides its threshold.
struct Calibration {
  Threshold threshold;
  std::int64_t probes = 0;  ///< templates that were taken for a stranger's, each compared with all of others
  double mistaken_at_most = 1;  ///< with 95% confidence, of people like those in the gallery: the share of
                                ///< strangers who are taken for somebody by one of their pictures
  std::int64_t own_probes = 0;  ///< templates of people who have another one
  std::int64_t own_known = 0;   ///< of these, those that are recognised by that person's others
};

/// Each template of each person is a stranger's for the gallery without that person: its distance to the
/// nearest template is what a threshold has to lie below. The threshold is the largest one at which no more
/// than `rate` of these templates are taken for somebody. Where there are fewer people than 1 / rate, that is
/// an upper limit only, and what the model knows of other people counts where it allows less: a pair's share
/// of rate / templates, since the stranger may be taken for each of them.
///
/// The confidence is Clopper and Pearson's ("The use of confidence or fiducial limits", Biometrika 26, 1934),
/// of people and not of pictures, since those of one person are not independent.
/// Takes all templates, or 4096 spread evenly, times all others; on all threads.
/// @param rate  0..1
/// Throws Error (input) where neither gallery nor model tell anything, and where two people have one
/// template.
Calibration calibrate(const Snapshot& gallery, const FaceFinder& finder, double rate);

/// The upper end of the one-sided 95% interval of a share of which `hits` of `tries` were seen.
double share_at_most(std::int64_t hits, std::int64_t tries);

}  // namespace sightline::gallery
