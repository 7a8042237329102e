#pragma once
/// Sweep of a family's kernel parameters: a grid of two whole numbers, each place of it timed on frames.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sightline {

/// One setting of the kernels, timed.
struct SweepPoint {
  std::string setting;  ///< as its option takes it, or in words
  double seconds =
      0;              ///< a frame, what depends on the setting: the fastest of several runs, mean over frames
  double excess = 0;  ///< count of KernelSweep::excess, per frame
};

/// A grid of settings. Plain data.
struct KernelSweep {
  std::string name;                ///< of what is varied: "phases"
  std::string timed;               ///< which part of a frame: "scan and finish"
  std::string across, down;        ///< names of columns and rows
  std::string excess;              ///< name of SweepPoint::excess, in the plural; empty: none
  std::vector<int> columns, rows;  ///< rising
  std::vector<SweepPoint> points;  ///< row after row
  SweepPoint own;                  ///< the processor's parameters without a sweep
  std::size_t own_place = 0;       ///< the point that is next to it
  std::vector<SweepPoint> others;  ///< other kernels, for comparison
  std::string note;                ///< for people; may be empty

  const SweepPoint& at(std::size_t row, std::size_t column) const {
    return points[row * columns.size() + column];
  }
  /// The place of the fastest point; there must be one.
  std::size_t best_place() const;
  double slowest() const;  ///< seconds
};

struct SweepOptions {
  int values = 8;  ///< of each axis, at least 2; axes that have few values take all of them
  std::function<void(const std::string&)> progress;  ///< receives a line per step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// `count` whole numbers from `lowest` to `highest`, both among them, the closer together the lower they are;
/// all of them where there are no more.
std::vector<int> sweep_values(int lowest, int highest, int count);

/// The place of the value that is nearest.
std::size_t nearest(const std::vector<int>& values, double value);

}  // namespace sightline
