#include "texture/output.hpp"

#include <algorithm>
#include <cstring>

#include "texture/cell_sink.hpp"

namespace sightline::texture {

namespace {

// Text on the first difference of two lists of counts; empty if they are equal.
std::string difference_of(const std::vector<std::uint32_t>& ours, const std::vector<std::uint32_t>& theirs,
                          const std::string& what) {
  if (ours.size() != theirs.size())
    return std::to_string(ours.size()) + " " + what + ", not " + std::to_string(theirs.size());
  const auto [our, their] = std::mismatch(ours.begin(), ours.end(), theirs.begin());
  if (our == ours.end()) return "";
  return what + ": number " + std::to_string(our - ours.begin()) + " is " + std::to_string(*our) + ", not " +
         std::to_string(*their);
}

template <typename T>
std::string difference_of(const Image<T>& ours, const Image<T>& theirs) {
  if (ours.width() != theirs.width() || ours.height() != theirs.height()) return "labels of another size";
  for (int y = 0; y < ours.height(); ++y) {
    const T* const our = ours.view().row(y);
    const T* const their = theirs.view().row(y);
    if (std::memcmp(our, their, static_cast<std::size_t>(ours.width()) * sizeof(T)) == 0) continue;
    const auto x = std::mismatch(our, our + ours.width(), their).first - our;
    return "label at (" + std::to_string(x) + ", " + std::to_string(y) + "): " + std::to_string(our[x]) +
           ", not " + std::to_string(their[x]);
  }
  return "";
}

}  // namespace

std::string TextureOutput::difference(const FrameOutput& other) const {
  const auto& theirs = static_cast<const TextureOutput&>(other);
  if (size != theirs.size) return "texture of another size";
  if (operators.size() != theirs.operators.size()) return "another number of operators";
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorCounts& a = operators[i];
    const OperatorCounts& b = theirs.operators[i];
    for (const std::string& text :
         {difference_of(a.bins, b.bins, "bins"), difference_of(a.contrast, b.contrast, "contrasts"),
          difference_of(a.cells, b.cells, "cells' bins"), difference_of(a.labels8, b.labels8),
          difference_of(a.labels16, b.labels16)}) {
      if (!text.empty()) return "operator " + std::to_string(i + 1) + ": " + text;
    }
  }
  return "";
}

void append_cell(std::span<const TextureOutput* const> channels, int x, int y,
                 std::vector<std::uint32_t>& counts) {
  for (const TextureOutput* channel : channels) {
    const Size cells = channel->cells;
    for (const OperatorCounts& op : channel->operators) {
      const std::size_t bins = op.cells.size() / (static_cast<std::size_t>(cells.width) * cells.height);
      const auto from = op.cells.begin() +
                        static_cast<std::ptrdiff_t>(bins * (static_cast<std::size_t>(y) * cells.width + x));
      counts.insert(counts.end(), from, from + static_cast<std::ptrdiff_t>(bins));
    }
  }
}

}  // namespace sightline::texture
