#pragma once
/// Features of a cascade's stumps, and their values for many windows at a time.
///
/// A sample is a window's pixels. Values are the detector's: sums from integral images, local binary patterns
/// and Haar features in units of the window's standard deviation as in cascade/kernels.hpp, bit for bit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "detectors/cascade/model.hpp"
#include "training/window_samples.hpp"

namespace sightline::cascade {

/// Features to choose from; one of the two lists is empty.
struct FeaturePool {
  FeatureKind kind = FeatureKind::lbp;
  Size window;
  std::vector<Rect> lbp;          ///< upper left blocks, see Model
  std::vector<HaarFeature> haar;  ///< upright ones, then the tilted ones
  bool has_tilted = false;

  std::size_t size() const { return kind == FeatureKind::lbp ? lbp.size() : haar.size(); }
};

/// All features of a window. LBP: 3x3 equal blocks of any size up to kMaxSmallBlock pixels, 8,464 in 24x24
/// pixels. Haar: the set that opencv_traincascade calls CORE, which is all upright ones: two, three and four
/// stripes either way, a checkerboard of 2x2 and the middle of 3x3 cells of any size, 210,400 in 24x24
/// pixels.
/// @param tilted  Haar: adds the stripes turned by 45 degrees, 51,200 in 24x24 pixels (the set ALL)
FeaturePool all_features(FeatureKind kind, Size window, bool tilted = false);
std::size_t count_features(FeatureKind kind, Size window, bool tilted = false);

inline constexpr std::size_t kTogether = 64;  ///< samples

/// The integral images of samples, made for taking one feature of all of them: kTogether samples lie side by
/// side. Thread-safety: any number of readers.
class SampleIntegrals {
 public:
  /// @param tilted  whether values of tilted features are wanted
  SampleIntegrals(FeatureKind kind, Size window, bool tilted = false)
      : kind_(kind), window_(window), planes_(tilted ? 2 : 1) {}
  /// Replaces the content; on all threads.
  void assign(const training::WindowSamples& samples);

  std::size_t size() const { return samples_; }
  std::size_t blocks() const { return (samples_ + kTogether - 1) / kTogether; }
  Size window() const { return window_; }
  /// Haar: whether the detector looks at no feature of it, since there is nothing to see. LBP: never.
  bool is_flat(std::size_t sample) const { return !norms_.empty() && norms_[sample] == 0; }

  /// The patterns (LBP) or values (Haar) of a block's kTogether samples; unused ones of the last block are
  /// patterns of black windows and values of 0.
  void patterns(const Rect& feature, std::size_t block, std::uint8_t* patterns) const;
  void values(const HaarFeature& feature, std::size_t block, float* values) const;

 private:
  std::size_t corners() const {
    return static_cast<std::size_t>(window_.width + 1) * static_cast<std::size_t>(window_.height + 1);
  }
  /// Elements of a block.
  std::size_t block_elements() const { return planes_ * corners() * kTogether; }
  void integrate(const training::WindowSamples& samples, std::size_t block);

  FeatureKind kind_;
  Size window_;
  std::size_t planes_;  ///< 2: the second one has tilted sums
  std::size_t samples_ = 0;
  // Integrals by block, plane, corner of the window's integral image, sample of the block.
  std::vector<std::uint16_t> small_sums_;  // LBP
  std::vector<std::int32_t> sums_;         // Haar
  std::vector<float> norms_;               // Haar, by sample; 0: flat
};

/// Elements from the block's first: the 4x4 corners of 3x3 blocks, row after row.
struct PatternCorners {
  std::int32_t at[16];
};
/// Corners of two or three rectangles: upper left, upper right, lower left, lower right; of tilted ones top,
/// left, right, bottom.
struct ValueCorners {
  std::int32_t at[HaarFeature::kMaxRects][4];
  float weights[HaarFeature::kMaxRects];
  int rects;
};

/// 256 equal parts of a range of values, by number. Rounding is monotonic, so parts are.
struct ValueRange {
  float lowest = 0, highest = 0;
  float bins = 0;  ///< a unit; 0: all values are one

  int bin(float value) const {
    return static_cast<int>(std::min(std::max((value - lowest) * bins, 0.0F), 255.0F));
  }
};

/// The inner loops over the samples of a block, or of several where there is a count, which is a multiple of
/// kTogether; in SIMD. `reference` has plain ones, which give the same bits.
void take_patterns(const PatternCorners& corners, const std::uint16_t* sums, std::uint8_t* patterns);
void take_values(const ValueCorners& corners, const std::int32_t* sums, const float* norms, float* values);
/// The range from the lowest to the highest.
ValueRange range_of(const float* values, std::size_t count);
void take_bins(const float* values, std::size_t count, const ValueRange& range, std::uint8_t* bins);
namespace reference {
void take_patterns(const PatternCorners& corners, const std::uint16_t* sums, std::uint8_t* patterns);
void take_values(const ValueCorners& corners, const std::int32_t* sums, const float* norms, float* values);
ValueRange range_of(const float* values, std::size_t count);
void take_bins(const float* values, std::size_t count, const ValueRange& range, std::uint8_t* bins);
}  // namespace reference

}  // namespace sightline::cascade
