#pragma once
/// Descriptor of a face's crop: histograms of local binary patterns, region by region (T. Ahonen, A. Hadid,
/// M. Pietikainen, "Face Description with Local Binary Patterns: Application to Face Recognition", PAMI
/// 2006). Counts: the same on every processor.

#include <cstdint>
#include <vector>

#include "faces/recognition/crop.hpp"
#include "image/circular_lbp.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// One circle of local binary patterns.
struct Circle {
  int points = 8;
  double radius = 2;
  friend bool operator==(const Circle&, const Circle&) = default;
};

struct DescriptorSettings {
  std::vector<Circle> circles{Circle{}};
  LbpMapping mapping = LbpMapping::uniform;
  Size crop = kCropSize;
  /// Pixels of the crop on each side that have no patterns, at least the largest circle's reach.
  int margin = 2;
  Size region{18, 21};
  /// From region to region, at most a region's size: less, and regions overlap.
  Size step{18, 21};
  friend bool operator==(const DescriptorSettings&, const DescriptorSettings&) = default;
};

/// Pixels [begin, end) of an axis.
struct Span {
  int begin = 0, end = 0;
};

/// An axis cut wherever a region begins or ends: regions that overlap share cells, so that every pixel is
/// counted once.
struct Cells {
  std::vector<Span> pixels;   ///< pixels of each cell
  std::vector<Span> regions;  ///< cells of each region
};

/// Circles, bins and the grid of regions for given settings. The last regions are clipped at the end of the
/// crop's inner part. Immutable.
class Descriptor {
 public:
  static constexpr int kMostValues = 1 << 20;

  /// Throws Error (usage) on settings out of range.
  explicit Descriptor(DescriptorSettings settings = {});

  const DescriptorSettings& settings() const { return settings_; }
  /// [column] and [row] of regions.
  const std::vector<Span>& columns() const { return columns_; }
  const std::vector<Span>& rows() const { return rows_; }
  int regions() const { return static_cast<int>(columns_.size() * rows_.size()); }
  const std::vector<CircularLbp>& circles() const { return circles_; }
  /// Bins of a circle.
  const LbpBins& bins(std::size_t circle) const { return bins_[circle]; }
  /// Index of the circle's first count.
  int first_value(std::size_t circle) const { return first_values_[circle]; }
  /// Counts in all: [circle][row of regions][column of regions][bin].
  int values() const { return values_; }
  /// Largest possible count: the pixels of a whole region. Up to 255, counts fit in a byte.
  int largest_count() const { return settings_.region.width * settings_.region.height; }

  /// Memory for one crop at a time.
  struct Scratch {
    AlignedBuffer<std::uint8_t> bytes;
    AlignedBuffer<std::uint16_t> words;
    AlignedBuffer<std::uint32_t> wide;
    AlignedBuffer<std::uint16_t> histograms;
  };
  /// Counts the patterns of a crop of the settings' size; writes values() counts.
  void count(GrayView crop, Scratch& scratch, std::uint16_t* counts) const;

 private:
  template <typename Code>
  void count_circle(GrayView crop, std::size_t circle, AlignedBuffer<Code>& codes,
                    AlignedBuffer<std::uint16_t>& histograms, std::uint16_t* counts) const;
  void add_band(std::size_t band, std::size_t bins, std::uint16_t* cells, std::uint16_t* counts) const;

  DescriptorSettings settings_;
  std::vector<Span> columns_, rows_;
  Cells column_cells_, row_cells_;
  std::vector<CircularLbp> circles_;
  std::vector<LbpBins> bins_;
  std::vector<int> first_values_;
  int values_ = 0;
};

namespace reference {
/// By the definition, pixel by pixel.
void count(const Descriptor& descriptor, GrayView crop, std::uint16_t* counts);
}  // namespace reference

}  // namespace sightline::recognition
