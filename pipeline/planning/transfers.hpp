#pragma once
/// How long copies to and from a device take, by their size.

#include <utility>
#include <vector>

namespace sightline::pipeline {

/// Copies one way. Immutable.
class TransferCurve {
 public:
  TransferCurve() = default;
  /// @param points  bytes and seconds of copies that were measured; in any order. A larger copy counts as no
  ///                faster than a smaller one
  explicit TransferCurve(std::vector<std::pair<double, double>> points);

  bool empty() const { return points_.empty(); }
  /// Time to transfer so many bytes: interpolated between measured sizes, extrapolated beyond the largest,
  /// constant below the smallest. 0 for an empty curve.
  double seconds(double bytes) const;
  /// The other way round: the fewest bytes whose copy takes that long; 0 where even the smallest takes
  /// longer.
  double bytes(double seconds) const;

 private:
  std::vector<std::pair<double, double>> points_;  // both rising
};

/// Both ways, from and to memory that the pipeline keeps for that.
struct TransferModel {
  TransferCurve upload, download;

  bool empty() const { return upload.empty() || download.empty(); }
  /// Seconds to bring to the device what took so long to bring from it.
  double upload_of_download(double seconds) const { return upload.seconds(download.bytes(seconds)); }
};

}  // namespace sightline::pipeline
