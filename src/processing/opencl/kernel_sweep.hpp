#pragma once
/// Sweep of a family's kernel parameters: a grid of two whole numbers, each place of it timed on frames.

#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace sightline {

/// One setting of the kernels, timed.
struct SweepPoint {
  std::string setting;  ///< value of its option, or a description
  double seconds =
      0;  ///< a frame, what depends on the setting: the fastest of several runs, mean over frames
  std::vector<double> excess = {};  ///< count of KernelSweep::excess by kernel, per frame; may be empty

  double whole_excess() const { return std::reduce(excess.begin(), excess.end()); }
};

/// A grid of settings. Plain data.
struct KernelSweep {
  std::string name;                ///< name of the varied quantity: "phases"
  std::string timed;               ///< timed part of a frame: "scan and finish"
  std::string across, down;        ///< names of columns and rows
  std::string excess;              ///< name of SweepPoint::excess, in the plural; empty: none
  std::vector<int> columns, rows;  ///< rising
  std::vector<SweepPoint> points;  ///< row after row
  SweepPoint own;                  ///< the processor's parameters without a sweep
  std::size_t own_place = 0;       ///< the point that is next to it
  std::vector<SweepPoint> others;  ///< other kernels, for comparison
  std::string note;                ///< remark; may be empty

  const SweepPoint& at(std::size_t row, std::size_t column) const {
    return points[row * columns.size() + column];
  }
  /// The place of the fastest point; there must be one.
  std::size_t best_place() const;
  double slowest() const;  ///< seconds
};

struct SweepOptions {
  int values = 8;  ///< values per axis, at least 2; short axes use all their values
  std::function<void(const std::string&)> progress;  ///< receives a line per step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// `count` integers from `lowest` to `highest`, both included, spaced roughly geometrically; all integers if
/// the range has no more.
std::vector<int> sweep_values(int lowest, int highest, int count);

/// The place of the value that is nearest.
std::size_t nearest(const std::vector<int>& values, double value);

}  // namespace sightline
