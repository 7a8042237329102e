#pragma once
/// All of a face's histograms: several channels, each a normalisation and a grid of regions, and perhaps the
/// same for a face and its mirror image.
///
/// A channel's counts are plain or folded: region (row, column) of C columns and bin b become
/// `count[row][column][b] + count[row][C - 1 - column][mirrored b]` for the columns up to the middle one,
/// which is added to itself. The mirrored bin is that of the code whose bits are those of the mirrored
/// circle. Folding halves the values and gives a face and its mirror image equal values, but mixes the lit
/// half with the one in shadow.

#include <cstdint>
#include <vector>

#include "faces/recognition/descriptor.hpp"
#include "faces/recognition/normalisation.hpp"

namespace sightline::recognition {

struct Channel {
  Normalisation normalisation;
  DescriptorSettings descriptor;
  bool is_folded = true;
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// The bin of each bin's codes where the picture is mirrored. For mappings plain, uniform and
/// rotation_uniform. Throws Error (usage) for others.
std::vector<std::uint16_t> mirrored_bins(const LbpBins& bins);

/// Immutable.
class FaceDescriptor {
 public:
  /// Throws Error (usage): no channels, or settings that Descriptor or check(Normalisation) refuse; crops of
  /// different sizes; of a folded channel, regions that are not their own mirror image and by `rotation`
  /// mapped codes.
  explicit FaceDescriptor(std::vector<Channel> channels);

  Size crop_size() const { return descriptors_.front().settings().crop; }
  std::size_t channels() const { return descriptors_.size(); }
  const Normalisation& normalisation(std::size_t channel) const { return normalisations_[channel]; }
  const Descriptor& descriptor(std::size_t channel) const { return descriptors_[channel]; }
  bool is_folded(std::size_t channel) const { return is_folded_[channel]; }
  /// Mirrored bins of that circle; empty for a channel that is not folded.
  const std::vector<std::uint16_t>& mirrored(std::size_t channel, std::size_t circle) const {
    return mirrored_[channel][circle];
  }

  /// Columns of regions that are left.
  int columns(std::size_t channel) const {
    const int all = static_cast<int>(descriptors_[channel].columns().size());
    return is_folded_[channel] ? (all + 1) / 2 : all;
  }
  /// Number of regions of all channels and circles after folding; each has one value per bin.
  int regions() const { return regions_; }
  /// Index of a channel's first value.
  int first_value(std::size_t channel) const { return first_values_[channel]; }
  /// Values in all: [channel][circle][row][column][bin].
  int values() const { return first_values_.back(); }
  /// Largest possible value: the pixels of a region, doubled if folded. Up to 255, values fit in a byte.
  int largest_count() const { return largest_count_; }

  /// Memory for one crop at a time.
  struct Scratch {
    Normaliser normaliser;
    Descriptor::Scratch descriptor;
    AlignedBuffer<std::uint16_t> counts;
  };
  /// Writes the values of a crop of crop_size().
  void count(GrayView crop, Scratch& scratch, std::uint16_t* values) const;

  /// Folds a channel's counts, as Descriptor::count leaves them, into its values, or copies them.
  void fold(std::size_t channel, const std::uint16_t* counts, std::uint16_t* values) const;

 private:
  std::vector<Normalisation> normalisations_;
  std::vector<Descriptor> descriptors_;
  std::vector<bool> is_folded_;
  std::vector<std::vector<std::vector<std::uint16_t>>> mirrored_;
  std::vector<int> first_values_;  ///< and one past the last
  int regions_ = 0;
  int largest_count_ = 0;
};

namespace reference {
/// The same by reference::normalise and reference::count.
void count(const FaceDescriptor& descriptor, GrayView crop, std::uint16_t* values);
}  // namespace reference

}  // namespace sightline::recognition
