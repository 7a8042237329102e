#include "recognition/descriptor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace sightline::recognition {
namespace {

constexpr int kLargestCrop = 1024;  // pixels a side

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::usage, "descriptor of faces: " + problem, remedy);
}

// Regions along an axis of so many pixels, the first of which is `margin`.
std::vector<Span> spans(int length, int margin, int size, int step) {
  const int end = length - margin;
  std::vector<Span> result;
  int begin = margin;
  do {
    result.push_back({begin, std::min(begin + size, end)});
    begin += step;
  } while (result.back().end < end);
  return result;
}

void check(const DescriptorSettings& s) {
  const auto is_in = [](int value, int lowest, int highest) { return value >= lowest && value <= highest; };
  if (s.circles.empty()) refuse("no circle of local binary patterns", "give at least one");
  if (!is_in(s.crop.width, 1, kLargestCrop) || !is_in(s.crop.height, 1, kLargestCrop))
    refuse("a crop has 1 to " + std::to_string(kLargestCrop) + " pixels a side", "");
  const Size inner{s.crop.width - 2 * s.margin, s.crop.height - 2 * s.margin};
  if (s.margin < 0 || inner.width < 1 || inner.height < 1)
    refuse("a margin of " + std::to_string(s.margin) + " pixels leaves nothing of the crop", "");
  if (!is_in(s.region.width, 1, inner.width) || !is_in(s.region.height, 1, inner.height))
    refuse("regions do not fit in the crop", "");
  if (s.region.width * s.region.height > 0xFFFF) refuse("regions have at most 65535 pixels", "");
  if (!is_in(s.step.width, 1, s.region.width) || !is_in(s.step.height, 1, s.region.height))
    refuse("the step from region to region is at least 1 pixel and at most a region's size", "");
}

}  // namespace

Descriptor::Descriptor(DescriptorSettings settings) : settings_(std::move(settings)) {
  const DescriptorSettings& s = settings_;
  check(s);
  columns_ = spans(s.crop.width, s.margin, s.region.width, s.step.width);
  rows_ = spans(s.crop.height, s.margin, s.region.height, s.step.height);
  std::int64_t values = 0;
  for (const Circle& circle : s.circles) {
    circles_.emplace_back(circle.points, circle.radius);
    if (circles_.back().reach() > s.margin)
      refuse("a circle reaches further than the margin of " + std::to_string(s.margin) + " pixels",
             "take a larger margin");
    bins_.emplace_back(circle.points, s.mapping);
    first_values_.push_back(static_cast<int>(values));
    values += std::int64_t{regions()} * bins_.back().count();
    if (values > kMostValues)
      refuse("more than " + std::to_string(kMostValues) + " values", "take larger regions or fewer circles");
  }
  values_ = static_cast<int>(values);
}

template <typename Code>
void Descriptor::count_circle(GrayView crop, std::size_t circle, AlignedBuffer<Code>& codes,
                              AlignedBuffer<std::uint16_t>& bins, std::uint16_t* counts) const {
  const int margin = settings_.margin;
  const int width = crop.width() - 2 * margin;
  codes.resize(static_cast<std::size_t>(width));
  bins.resize(static_cast<std::size_t>(width));
  const LbpBins& mapping = bins_[circle];
  const std::size_t bin_count = static_cast<std::size_t>(mapping.count());
  const std::uint16_t* const table = mapping.table().empty() ? nullptr : mapping.table().data();
  std::size_t first_row = 0;
  for (int y = margin; y < crop.height() - margin; ++y) {
    circular_lbp_row(crop, circles_[circle], y, margin, crop.width() - margin, codes.data());
    for (int x = 0; x < width; ++x)
      bins[x] = table ? table[codes[x]] : static_cast<std::uint16_t>(mapping.bin(codes[x]));
    while (rows_[first_row].end <= y) ++first_row;
    for (std::size_t row = first_row; row < rows_.size() && rows_[row].begin <= y; ++row) {
      std::uint16_t* histogram = counts + row * columns_.size() * bin_count;
      for (const Span& column : columns_) {
        for (int x = column.begin - margin; x < column.end - margin; ++x) ++histogram[bins[x]];
        histogram += bin_count;
      }
    }
  }
}

void Descriptor::count(GrayView crop, Scratch& scratch, std::uint16_t* counts) const {
  std::fill_n(counts, values_, std::uint16_t{0});
  for (std::size_t i = 0; i < circles_.size(); ++i) {
    std::uint16_t* const own = counts + first_values_[i];
    switch (circles_[i].points()) {
      case 8:
        count_circle(crop, i, scratch.bytes, scratch.bins, own);
        break;
      case 16:
        count_circle(crop, i, scratch.words, scratch.bins, own);
        break;
      default:
        count_circle(crop, i, scratch.wide, scratch.bins, own);
        break;
    }
  }
}

namespace reference {

void count(const Descriptor& descriptor, GrayView crop, std::uint16_t* counts) {
  std::fill_n(counts, descriptor.values(), std::uint16_t{0});
  for (std::size_t i = 0; i < descriptor.circles().size(); ++i) {
    std::uint16_t* histogram = counts + descriptor.first_value(i);
    for (const Span& row : descriptor.rows()) {
      for (const Span& column : descriptor.columns()) {
        for (int y = row.begin; y < row.end; ++y) {
          for (int x = column.begin; x < column.end; ++x)
            ++histogram[descriptor.bins(i).bin(descriptor.circles()[i].code(crop, x, y))];
        }
        histogram += descriptor.bins(i).count();
      }
    }
  }
}

}  // namespace reference

}  // namespace sightline::recognition
