#pragma once
/// Miss rate curves as a table, which can be read back.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"

namespace sightline {

/// Unit of false positives. A stranger is a pair of photos of two people, or a face of an unknown person.
enum class FalsePositiveUnit { per_window, per_image, per_stranger };

/// "window", "image" or "stranger".
const char* unit_name(FalsePositiveUnit unit);

/// A curve with its test conditions.
struct NamedCurve {
  std::string name;  ///< legend text: "filter bank, 100 words"
  std::string
      summary;  ///< the figure that sums it up, e.g. "6.5% at 10⁻⁴" or "log-average 31%"; may be empty
  std::vector<DetPoint> points;  ///< points by falling threshold
  std::uint64_t positives = 0;   ///< objects or windows that were to be found
  std::uint64_t trials = 0;      ///< windows or images that were searched
};

/// A table with the header `curve,threshold,false_positives_per_window,miss_rate,positives,windows`
/// (`..._per_image` and `images`, `..._per_stranger` and `strangers`), a row a point; numbers in the shortest
/// form that reads back as the same number.
std::string curves_as_csv(std::span<const NamedCurve> curves, FalsePositiveUnit unit);

/// Curves of one table.
struct StoredCurves {
  FalsePositiveUnit unit = FalsePositiveUnit::per_image;
  std::vector<NamedCurve> curves;  ///< at least one, each with its summary; rows with one name form a curve
};

/// Reads the output of curves_as_csv. Throws Error(input) with the line if it is invalid or holds no curve.
StoredCurves load_curves(const std::filesystem::path& file);

/// The figure that sums a curve up: its log-average miss rate per image, its miss rate at 1e-4 per
/// window or at 1% per stranger.
std::string summary_of(std::span<const DetPoint> curve, FalsePositiveUnit unit);

/// Writes a report to a file, which has its name once it is whole. Throws Error(failed) with the path and the
/// system's reason.
void write_report(const std::filesystem::path& path, const std::string& text);

}  // namespace sightline
