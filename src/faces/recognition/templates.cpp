#include "faces/recognition/templates.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "faces/recognition/chi_square.hpp"

namespace sightline::recognition {
namespace {

using Kind = TemplateFormat::Kind;

std::size_t word_bytes_of(Kind kind) {
  switch (kind) {
    case Kind::counts8:
      return 1;
    case Kind::counts16:
      return 2;
    case Kind::vector8:
      break;
  }
  return 4;
}

Error not_a_format(const std::string& problem) {
  return Error(ExitCode::model, "templates cannot be searched: " + problem);
}

// Distances must fit in 32 bits: a term is at most the larger count. Vectors of all allowed dimensions
// satisfy this.
void check_format(const TemplateFormat& format) {
  if (format.dims < 1 || format.dims > kLargestDims) {
    throw not_a_format(std::to_string(format.dims) + " values, not 1 to " + std::to_string(kLargestDims));
  }
  if (format.weights.empty() && format.kind != Kind::counts16) return;
  if (!format.weights.empty() && format.kind == Kind::vector8) throw not_a_format("vectors have no weights");
  if (!format.weights.empty() && format.weights.size() != static_cast<std::size_t>(format.dims)) {
    throw not_a_format(std::to_string(format.weights.size()) + " weights for " + std::to_string(format.dims) +
                       " values");
  }
  const std::uint64_t weights =
      format.weights.empty()
          ? static_cast<std::uint64_t>(format.dims)
          : std::accumulate(format.weights.begin(), format.weights.end(), std::uint64_t{0});
  const std::uint64_t largest = format.kind == Kind::counts8 ? 255 : kLargestCount;
  if (weights * largest * kChiSquareUnit > std::numeric_limits<std::uint32_t>::max())
    throw not_a_format("weights that sum up to " + std::to_string(weights) + " are too large");
}

}  // namespace

std::size_t bytes_per_template(const TemplateFormat& format) {
  return static_cast<std::size_t>(format.dims) * (format.kind == Kind::counts16 ? 2 : 1);
}

int template_value(const TemplateFormat& format, std::span<const std::uint8_t> bytes, std::size_t d) {
  switch (format.kind) {
    case Kind::counts8:
      return bytes[d];
    case Kind::counts16:
      return bytes[2 * d] + 256 * bytes[2 * d + 1];
    case Kind::vector8:
      break;
  }
  return static_cast<std::int8_t>(bytes[d]);
}

std::uint32_t template_sum(const TemplateFormat& format, std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(format.dims); ++d) {
    const int value = template_value(format, bytes, d);
    const int factor = format.kind == Kind::vector8 ? value : format.weights.empty() ? 1 : format.weights[d];
    sum += static_cast<std::uint32_t>(value * factor);
  }
  return sum;
}

TemplateSet::TemplateSet(TemplateFormat format) : format_(std::move(format)) {
  check_format(format_);
  word_bytes_ = word_bytes_of(format_.kind);
  words_ = (bytes_per_template(format_) + word_bytes_ - 1) / word_bytes_;
}

std::size_t TemplateSet::place(std::size_t index, std::size_t byte) const {
  return (byte / word_bytes_ * kBlock + index % kBlock) * word_bytes_ + byte % word_bytes_;
}

void TemplateSet::check(std::span<const std::uint8_t> bytes) const {
  if (bytes.size() != bytes_per_template(format_)) {
    throw Error(ExitCode::model, "a template of " + std::to_string(bytes.size()) +
                                     " bytes is among those of " +
                                     std::to_string(bytes_per_template(format_)));
  }
  if (format_.kind != Kind::counts16) return;
  for (std::size_t d = 0; d < static_cast<std::size_t>(format_.dims); ++d) {
    if (template_value(format_, bytes, d) > kLargestCount) {
      throw Error(ExitCode::model, "a template counts more than " + std::to_string(kLargestCount) +
                                       " (value " + std::to_string(d) + ")");
    }
  }
}

void TemplateSet::write(std::size_t index, std::span<const std::uint8_t> bytes) {
  Block& block = blocks_[index / kBlock];
  for (std::size_t i = 0; i < bytes.size(); ++i) block.memory[place(index, i)] = bytes[i];
  block.sums[index % kBlock] = template_sum(format_, bytes);
  block.version = ++changes_;
}

void TemplateSet::append(std::span<const std::uint8_t> bytes) {
  check(bytes);
  if (size_ == std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::failed, "there are too many templates");
  if (size_ % kBlock == 0) {
    Block block{AlignedBuffer<std::uint8_t>(block_bytes()), std::vector<std::uint32_t>(kBlock), 0};
    std::fill_n(block.memory.data(), block_bytes(), std::uint8_t{0});
    blocks_.push_back(std::move(block));
  }
  write(size_++, bytes);
}

void TemplateSet::replace(std::size_t index, std::span<const std::uint8_t> bytes) {
  check(bytes);
  write(index, bytes);
}

void TemplateSet::remove(std::size_t index) {
  const std::size_t last = size_ - 1;
  const std::vector<std::uint8_t> moved = bytes(last), nothing(moved.size());
  if (index != last) write(index, moved);
  write(last, nothing);
  size_ = last;
  if (last % kBlock == 0) blocks_.pop_back();
}

void TemplateSet::clear() {
  size_ = 0;
  blocks_.clear();
}

std::vector<std::uint8_t> TemplateSet::bytes(std::size_t index) const {
  std::vector<std::uint8_t> bytes(bytes_per_template(format_));
  const Block& block = blocks_[index / kBlock];
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = block.memory[place(index, i)];
  return bytes;
}

}  // namespace sightline::recognition
