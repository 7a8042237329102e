#pragma once
/// Histograms of faces to search among.

#include <cstdint>
#include <string>
#include <vector>

namespace sightline::benchmarks {

/// What recognition's plain descriptor counts: 7x7 regions of 59 bins.
inline constexpr int kFaceValues = 2891;

/// Made up, with about the distribution of those of photos: per region as many pixels as a crop of 130x150
/// has, over `bins` bins, few of which have most. Of recognition's own descriptor, 71% of counts are above 0
/// and 10% above 15.
std::vector<std::vector<std::uint8_t>> made_up_faces(int count, unsigned seed, int regions = 49,
                                                     int bins = 59);

/// Those of at most `count` photos: FOLDER/NAME.webp for each line `NAME x y x y ...` of a file of landmarks,
/// eyes first. Throws Error (input).
std::vector<std::vector<std::uint8_t>> faces_of_photos(const std::string& folder,
                                                       const std::string& landmarks, int count);

}  // namespace sightline::benchmarks
