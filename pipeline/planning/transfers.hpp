#pragma once
/// Time of copies to and from a device, by their size.

#include <utility>
#include <vector>

namespace sightline::pipeline {

/// Time of copies in one direction. Immutable.
class TransferCurve {
 public:
  TransferCurve() = default;
  /// @param points  bytes and seconds of measured copies, in any order; a larger copy counts as at least as
  /// slow as a smaller one
  explicit TransferCurve(std::vector<std::pair<double, double>> points);

  bool empty() const { return points_.empty(); }
  /// Seconds of a copy: interpolated between measured sizes, extrapolated beyond the largest,
  /// constant below the smallest. 0 for an empty curve.
  double seconds(double bytes) const;
  /// Inverse: the fewest bytes whose copy takes that long; 0 if even the smallest takes longer.
  double bytes(double seconds) const;

 private:
  std::vector<std::pair<double, double>> points_;  // both rising
};

/// Both directions, from and to the pipeline's transfer memory.
struct TransferModel {
  TransferCurve upload, download;

  bool empty() const { return upload.empty() || download.empty(); }
  /// Upload time of data whose download took `seconds`.
  double upload_of_download(double seconds) const { return upload.seconds(download.bytes(seconds)); }
};

}  // namespace sightline::pipeline
