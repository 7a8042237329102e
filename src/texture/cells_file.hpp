#pragma once
/// Histograms of a picture's cells in a file, however many there are.

#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "base/atomic_file.hpp"
#include "texture/cell_sink.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// A NumPy array (`.npy`, format 1.0) of little-endian uint32, shape (rows, columns, features), C order: for
/// each cell its histograms, channel after channel, in each operator after operator, in each by bin. Written
/// tile by tile in any order; holds a tile's in memory. The file gets its name when it is whole (`finish`),
/// and is gone where that is not called. Thread-safety: none.
class CellsFile : public CellSink {
 public:
  /// @param columns, rows  cells of the whole picture
  /// Throws Error (failed) if it cannot be written.
  CellsFile(const std::filesystem::path& file, const TextureSettings& settings, std::size_t channels,
            std::int64_t columns, std::int64_t rows);

  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t features() const { return features_; }

  /// Writes all channels of a tile whose first cell is at (column, row). Throws Error (failed) if the disk is
  /// full.
  void write(std::int64_t column, std::int64_t row, std::span<const TextureOutput* const> channels) override;
  /// Appends all cells of a file of the same columns and features behind those that were appended before.
  /// Throws Error (failed).
  void append(const std::filesystem::path& file);
  /// Completes the file. Throws Error (failed).
  void finish();

 private:
  void check(std::error_code error) const;

  std::filesystem::path name_;
  AtomicFile file_;
  std::int64_t columns_, rows_, features_ = 0;
  std::int64_t start_ = 0;     ///< start of the array in the file
  std::int64_t appended_ = 0;  ///< rows
  std::vector<std::uint32_t> line_;
};

}  // namespace sightline::texture
