#pragma once
/// Nearest-neighbour classification of a picture's cells.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "texture/distance.hpp"

namespace sightline::texture {

/// Nearest class of a cell and the nearest other class, with the distances of their nearest known cells.
struct CellClass {
  int nearest = 0;
  int second = 0;
  float distance = 0;
  float second_distance = 0;
  friend bool operator==(const CellClass&, const CellClass&) = default;
};

/// Classifies cells as the nearest of known cells, and knows how far apart the cells of a class are.
/// Distances are those of texture::distance, added up over histograms, in float: sums run in the order of the
/// bins, so results are the same on every machine. Thread-safety: any thread once it is made.
class CellClassifier {
 public:
  static constexpr std::size_t kMostClasses = 36;
  /// Cells kept of a class: of more, some that are evenly spaced.
  static constexpr std::size_t kMostCells = 2000;
  /// Share of a class's known cells within its limit.
  static constexpr double kWithinLimit = 0.99;

  /// Computes limits on the threads of the calling TBB arena.
  /// @param bins     bins of each histogram of a cell
  /// @param classes  for each of 2 to kMostClasses classes, the histograms of its known cells one after the
  ///                 other, at least two cells. Throws std::logic_error otherwise.
  CellClassifier(std::vector<int> bins, std::span<const std::vector<std::uint32_t>> classes,
                 DistanceKind kind);

  /// The first of equally near classes.
  /// @param counts  histograms of a cell, none of them empty
  CellClass classify(std::span<const std::uint32_t> counts) const;

  /// Distance that kWithinLimit of the class's known cells do not exceed, each measured to the nearest other
  /// one of its class.
  float limit(std::size_t label) const { return classes_[label].limit; }
  std::size_t known_cells(std::size_t label) const { return classes_[label].count; }

 private:
  /// Cells that are compared at once.
  static constexpr std::size_t kBlock = 64;
  using Block = std::array<float, kBlock>;

  struct Class {
    std::size_t count = 0;
    std::vector<Block> features;  ///< [block][feature], of each cell of a block
    float limit = 0;
  };

  Class make_class(std::span<const std::uint32_t> counts) const;
  std::vector<float> features_of(std::span<const std::uint32_t> counts) const;
  float nearest(const std::vector<float>& query, const Class& known, std::size_t left_out) const;
  float limit_of(const Class& known) const;

  std::vector<int> bins_;
  std::size_t features_ = 0;
  DistanceKind kind_;
  std::vector<Class> classes_;
};

}  // namespace sightline::texture
