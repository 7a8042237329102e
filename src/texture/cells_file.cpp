#include "texture/cells_file.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "texture/totals.hpp"

namespace sightline::texture {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0.
std::string npy_head(std::int64_t rows, std::int64_t columns, std::int64_t features) {
  std::string text = "{'descr': '<u4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                     std::to_string(columns) + ", " + std::to_string(features) + "), }";
  constexpr std::size_t kFixed = 10;
  text.append(63 - (kFixed + text.size()) % 64, ' ');
  text += '\n';
  std::string head = "\x93NUMPY\x01";
  head += '\0';
  head += static_cast<char>(text.size() % 256);
  head += static_cast<char>(text.size() / 256);
  return head + text;
}

}  // namespace

CellsFile::CellsFile(const std::filesystem::path& file, const TextureSettings& settings, std::size_t channels,
                     std::int64_t columns, std::int64_t rows)
    : name_(file), file_(file), columns_(columns), rows_(rows) {
  for (const LbpOperator& op : settings.operators)
    bins_.push_back(static_cast<std::size_t>(bins_of(op, settings.mapping)));
  for (const std::size_t bins : bins_) features_ += static_cast<std::int64_t>(bins * channels);
  const std::string head = npy_head(rows, columns, features_);
  check(file_.write_at(0, head));
  start_ = static_cast<std::int64_t>(head.size());
}

void CellsFile::check(std::error_code error) const {
  if (!error) return;
  throw Error(ExitCode::failed, "cannot write '" + name_.string() + "': " + error.message(),
              "it must be a file, on a disk that has room for it");
}

void CellsFile::write(std::int64_t column, std::int64_t row, std::span<const TextureOutput* const> channels) {
  const Size cells = channels.front()->cells;
  for (int y = 0; y < cells.height; ++y) {
    line_.clear();
    for (int x = 0; x < cells.width; ++x) {
      for (const TextureOutput* channel : channels) {
        for (std::size_t op = 0; op < bins_.size(); ++op) {
          const auto from =
              channel->operators[op].cells.begin() +
              static_cast<std::ptrdiff_t>(bins_[op] * (static_cast<std::size_t>(y) * cells.width + x));
          line_.insert(line_.end(), from, from + static_cast<std::ptrdiff_t>(bins_[op]));
        }
      }
    }
    check(file_.write_at(
        start_ + ((row + y) * columns_ + column) * features_ * std::int64_t{sizeof(std::uint32_t)},
        {reinterpret_cast<const char*>(line_.data()), line_.size() * sizeof(std::uint32_t)}));
  }
}

void CellsFile::finish() {
  check(file_.finish());
}

}  // namespace sightline::texture
