#include "faces/recognition/descriptor.hpp"

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

// Regions along an axis of `length` pixels; the first one starts at `margin`.
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

Cells cells_of(const std::vector<Span>& regions) {
  std::vector<int> edges;
  for (const Span& region : regions) edges.insert(edges.end(), {region.begin, region.end});
  std::ranges::sort(edges);
  // Not std::ranges::unique, since Clang 14, which builds the fuzzers, does not compile GCC 12's.
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const auto index = [&](int edge) {
    return static_cast<int>(std::ranges::lower_bound(edges, edge) - edges.begin());
  };
  Cells cells;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) cells.pixels.push_back({edges[i], edges[i + 1]});
  for (const Span& region : regions) cells.regions.push_back({index(region.begin), index(region.end)});
  return cells;
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
  column_cells_ = cells_of(columns_);
  row_cells_ = cells_of(rows_);
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

// Adds the histograms of a band's cells to the regions that they are part of. Behind the cells' is room for
// one more.
void Descriptor::add_band(std::size_t band, std::size_t bins, std::uint16_t* cells,
                          std::uint16_t* counts) const {
  const auto add = [bins](const std::uint16_t* from, std::uint16_t* to) {
    for (std::size_t bin = 0; bin < bins; ++bin) to[bin] = static_cast<std::uint16_t>(to[bin] + from[bin]);
  };
  std::uint16_t* const sum = cells + column_cells_.pixels.size() * bins;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const Span part = column_cells_.regions[column];
    std::fill_n(sum, bins, std::uint16_t{0});
    for (int cell = part.begin; cell < part.end; ++cell)
      add(cells + static_cast<std::size_t>(cell) * bins, sum);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const Span bands = row_cells_.regions[row];
      if (static_cast<int>(band) >= bands.begin && static_cast<int>(band) < bands.end)
        add(sum, counts + (row * columns_.size() + column) * bins);
    }
  }
}

template <typename Code>
void Descriptor::count_circle(GrayView crop, std::size_t circle, AlignedBuffer<Code>& codes,
                              AlignedBuffer<std::uint16_t>& histograms, std::uint16_t* counts) const {
  const int margin = settings_.margin;
  const LbpBins& mapping = bins_[circle];
  const auto bins = static_cast<std::size_t>(mapping.count());
  const std::uint16_t* const table = mapping.table().data();
  codes.resize(static_cast<std::size_t>(crop.width()));
  histograms.resize((column_cells_.pixels.size() + 1) * bins);
  for (std::size_t band = 0; band < row_cells_.pixels.size(); ++band) {
    std::fill_n(histograms.data(), column_cells_.pixels.size() * bins, std::uint16_t{0});
    for (int y = row_cells_.pixels[band].begin; y < row_cells_.pixels[band].end; ++y) {
      circular_lbp_row(crop, circles_[circle], y, margin, crop.width() - margin, codes.data() + margin);
      std::uint16_t* histogram = histograms.data();
      for (const Span& cell : column_cells_.pixels) {
        for (int x = cell.begin; x < cell.end; ++x) {
          if constexpr (sizeof(Code) <= sizeof(std::uint16_t)) {
            ++histogram[table[codes[x]]];
          } else {
            ++histogram[mapping.bin(codes[x])];
          }
        }
        histogram += bins;
      }
    }
    add_band(band, bins, histograms.data(), counts);
  }
}

void Descriptor::count(GrayView crop, Scratch& scratch, std::uint16_t* counts) const {
  std::fill_n(counts, values_, std::uint16_t{0});
  for (std::size_t i = 0; i < circles_.size(); ++i) {
    std::uint16_t* const own = counts + first_values_[i];
    switch (circles_[i].points()) {
      case 8:
        count_circle(crop, i, scratch.bytes, scratch.histograms, own);
        break;
      case 16:
        count_circle(crop, i, scratch.words, scratch.histograms, own);
        break;
      default:
        count_circle(crop, i, scratch.wide, scratch.histograms, own);
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
