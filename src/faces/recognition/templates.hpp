#pragma once
/// Templates of known faces, laid out for searching: src/faces/recognition/search.hpp on the CPU,
/// src/faces/recognition/opencl/search.hpp on a device.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "image/view.hpp"

namespace sightline::recognition {

/// Format of templates as bytes, and their comparison.
struct TemplateFormat {
  enum class Kind {
    counts8,   ///< histograms, a byte a count; weighted chi-square (chi_square.hpp)
    counts16,  ///< likewise, two bytes a count, the lower first, up to kLargestCount
    vector8    ///< integers of -128 .. 127, a byte each; squared Euclidean distance
  };
  Kind kind = Kind::counts8;
  int dims = 0;  ///< values of a template, 1 to kLargestDims
  /// Weight of each dimension of counts; empty: all 1. Dimensions of equal weight are searched together, so
  /// few different weights are faster.
  std::vector<std::uint8_t> weights;

  bool operator==(const TemplateFormat&) const = default;
};

inline constexpr int kLargestDims = 65'536;

/// Bytes of a template.
std::size_t bytes_per_template(const TemplateFormat& format);

/// Any number of templates of one format, numbered from 0.
///
/// Memory is blocks of kBlock templates, each [word][template of the block]; a word is one count, or four
/// values of a vector (the last one filled up with zeros). So neighbouring templates lie in SIMD lanes or
/// work-items, and a dimension that a query does not need is not read at all. Places of the last block that
/// no template has are zero.
///
/// Thread-safety: as a standard container: any number of threads may read while none changes it.
class TemplateSet {
 public:
  static constexpr int kBlock = 64;

  /// Throws Error (model) where dimensions or weights are none that distances of 32 bits can be made of.
  explicit TemplateSet(TemplateFormat format);

  const TemplateFormat& format() const { return format_; }
  std::size_t size() const { return size_; }

  /// Adds a template at the end: takes time for one template, however many there are. Throws Error (model)
  /// where it is not of this format: of another length, or with counts beyond kLargestCount.
  void append(std::span<const std::uint8_t> bytes);
  /// Puts another template in its place. Throws as `append`.
  void replace(std::size_t index, std::span<const std::uint8_t> bytes);
  /// The last template takes its place, and its number.
  void remove(std::size_t index);
  void clear();

  /// A template's bytes, as they were appended.
  std::vector<std::uint8_t> bytes(std::size_t index) const;

  // For searching.

  std::size_t blocks() const { return blocks_.size(); }
  const std::uint8_t* block(std::size_t index) const { return blocks_[index].memory.data(); }
  std::size_t block_bytes() const { return kBlock * words_ * word_bytes_; }
  /// Words of a template, and bytes of a word.
  std::size_t words() const { return words_; }
  std::size_t word_bytes() const { return word_bytes_; }
  /// Weighted sum of counts, or a vector's sum of squares, of each template of a block.
  const std::uint32_t* sums(std::size_t block) const { return blocks_[block].sums.data(); }
  /// Version of the block: changes with it and never repeats, so that copies can be checked.
  std::uint64_t version(std::size_t block) const { return blocks_[block].version; }

 private:
  struct Block {
    AlignedBuffer<std::uint8_t> memory;
    std::vector<std::uint32_t> sums;
    std::uint64_t version = 0;
  };
  void check(std::span<const std::uint8_t> bytes) const;
  void write(std::size_t index, std::span<const std::uint8_t> bytes);
  std::size_t place(std::size_t index, std::size_t byte) const;

  TemplateFormat format_;
  std::size_t words_ = 0, word_bytes_ = 0;
  std::size_t size_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<Block> blocks_;
};

/// The sum that belongs to a template's bytes; see TemplateSet::sums.
std::uint32_t template_sum(const TemplateFormat& format, std::span<const std::uint8_t> bytes);

/// A template's d-th value.
int template_value(const TemplateFormat& format, std::span<const std::uint8_t> bytes, std::size_t d);

}  // namespace sightline::recognition
