#pragma once
/// The texture of a picture as it is kept in files: histograms, and how they were made.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "image/border.hpp"
#include "texture/tiles/picture.hpp"
#include "texture/totals.hpp"

namespace sightline::texture {

/// Histogram of one operator in one channel.
struct HistogramRecord {
  std::string channel;  ///< "luma", "red", ...
  std::string op;       ///< see LbpOperator::name
  std::vector<std::uint64_t> bins;
  std::optional<ContrastSummary> contrast;

  /// The pixels that have codes.
  std::uint64_t pixels() const;
  friend bool operator==(const HistogramRecord&, const HistogramRecord&) = default;
};

/// Histograms of cells in a file beside (texture/cells_file.hpp).
struct CellsRecord {
  std::string file;
  int cell = 0;  ///< side in pixels
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  friend bool operator==(const CellsRecord&, const CellsRecord&) = default;
};

/// Texture of a picture. Independent of tiles, threads and devices, so equal pictures have equal records.
struct TextureRecord {
  std::string picture;  ///< name given by the user
  int page = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  BorderRule border = BorderRule::reflect;
  int left_out = 0;  ///< pixels at each edge without codes (BorderRule::skip)
  LbpMapping mapping = LbpMapping::uniform;
  std::vector<HistogramRecord> histograms;  ///< [channel][operator]
  std::optional<CellsRecord> cells;
  std::vector<tiles::Damage> damage;  ///< areas that could not be read: they count as black
  std::int64_t damage_left_out = 0;   ///< damaged tiles or strips beyond those areas

  /// Description of channels, operators and mapping. Histograms are comparable if their records have equal
  /// kinds.
  std::string kind() const;
};

/// A record of the totals, without the picture's data.
/// @param channels  names of the channels
TextureRecord make_record(const TextureSettings& settings, const std::vector<std::string>& channels,
                          const TextureTotals& totals);

/// `{"textures":[...]}`: a document of records, with a line a record's part, bins on one line. Counts are
/// whole numbers of up to 64 bits.
/// @param shares  each bin's share of the pixels beside its count, as "shares"
std::string to_json(const std::vector<TextureRecord>& records, bool shares = false);
/// Reads what `to_json` writes. Throws Error (input) that names the file and the key that is wrong.
std::vector<TextureRecord> load_records(const std::filesystem::path& file);
std::vector<TextureRecord> parse_records(const std::string& text, const std::string& name);

/// RFC 4180 with a header: picture,channel,operator,bin,count,share; a row a bin.
std::string to_csv(const std::vector<TextureRecord>& records);

}  // namespace sightline::texture
