#pragma once
/// Whether a way computes what the method says.

#include <string>
#include <vector>

#include "ways/way.hpp"

namespace sightline::ways {

/// Largest error of a float response, whatever the order of its sum: nine products, each rounded, and eight
/// additions, of numbers whose magnitudes sum to at most 3 * 255 (unit length, nine pixels).
inline constexpr double kTolerance = 17 * 765.0 * 0x1p-24;

/// The responses of a problem by plain scalar code in double precision.
class Expected {
 public:
  explicit Expected(const Problem& problem);

  /// What is wrong with a result; "" where nothing is. Exact arithmetic must give the same integers and the
  /// lowest index; float responses must lie within kTolerance, and a float index may differ from the lowest
  /// where its response does so, too. Those that differ are counted in `other_indices`.
  std::string fault(const Result& result, Form form, Arithmetic arithmetic, int& other_indices) const;

 private:
  double response(Arithmetic arithmetic, int k, int x, int y) const;
  std::string fault_at(const Result& result, Form form, Arithmetic arithmetic, int x, int y,
                       int& other_indices) const;

  double sum(Arithmetic arithmetic, int x, int y) const;

  struct Best {
    double response = 0;
    int index = 0;
  };
  const Problem* problem_;
  /// [arithmetic][magnitude or value][pixel]
  std::vector<Best> best_[2][2];
};

}  // namespace sightline::ways
