#include "texture/cells_file.hpp"

#include <algorithm>
#include <bit>
#include <fstream>

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
    features_ += bins_of(op, settings.mapping) * static_cast<std::int64_t>(channels);
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
    for (int x = 0; x < cells.width; ++x) append_cell(channels, x, y, line_);
    check(file_.write_at(
        start_ + ((row + y) * columns_ + column) * features_ * std::int64_t{sizeof(std::uint32_t)},
        {reinterpret_cast<const char*>(line_.data()), line_.size() * sizeof(std::uint32_t)}));
  }
}

void CellsFile::append(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::int64_t row_bytes = columns_ * features_ * std::int64_t{sizeof(std::uint32_t)};
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  std::string text(10, 0);
  stream.read(text.data(), 10);
  const std::size_t more = static_cast<unsigned char>(text[8]) + 256U * static_cast<unsigned char>(text[9]);
  text.resize(10 + more);
  stream.read(text.data() + 10, static_cast<std::streamsize>(more));
  const auto start = static_cast<std::int64_t>(text.size());
  std::int64_t rows = (size - start) / std::max<std::int64_t>(row_bytes, 1);
  if (error || !stream || text != npy_head(rows, columns_, features_) || size != start + rows * row_bytes ||
      appended_ + rows > rows_) {
    throw Error(ExitCode::failed, "'" + file.string() + "' does not hold cells of '" + name_.string() + "'",
                "compute that part again");
  }
  std::string line(static_cast<std::size_t>(row_bytes), 0);
  for (; rows > 0; --rows, ++appended_) {
    if (!stream.read(line.data(), row_bytes)) check(std::make_error_code(std::errc::io_error));
    check(file_.write_at(start_ + appended_ * row_bytes, line));
  }
}

void CellsFile::finish() {
  check(file_.finish());
}

}  // namespace sightline::texture
