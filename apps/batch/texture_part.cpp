#include "apps/batch/texture_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sightline::apps::batch {
namespace {

void put_counts(ByteWriter& bytes, const std::vector<std::uint64_t>& counts) {
  bytes.put(static_cast<std::uint64_t>(counts.size()));
  for (const std::uint64_t count : counts) bytes.put(count);
}

std::vector<std::uint64_t> get_counts(ByteReader& bytes) {
  std::vector<std::uint64_t> counts;
  for (auto size = bytes.get<std::uint64_t>(); size > 0; --size) counts.push_back(bytes.get<std::uint64_t>());
  return counts;
}

void put_damage(ByteWriter& bytes, const std::vector<tiles::Damage>& list) {
  bytes.put(static_cast<std::uint64_t>(list.size()));
  for (const tiles::Damage& one : list) {
    bytes.put(one.where.x);
    bytes.put(one.where.y);
    bytes.put(one.where.width);
    bytes.put(one.where.height);
    bytes.put_text(one.reason);
  }
}

std::vector<tiles::Damage> get_damage(ByteReader& bytes) {
  std::vector<tiles::Damage> list;
  for (auto size = bytes.get<std::uint64_t>(); size > 0; --size) {
    tiles::Damage& one = list.emplace_back();
    one.where.x = bytes.get<std::int64_t>();
    one.where.y = bytes.get<std::int64_t>();
    one.where.width = bytes.get<int>();
    one.where.height = bytes.get<int>();
    one.reason = bytes.get_text();
  }
  return list;
}

constexpr std::int64_t kMaxSide = std::numeric_limits<std::int32_t>::max();  // pixels

[[noreturn]] void refuse_band() {
  throw Error(ExitCode::failed, "a part has histograms of another picture or other settings",
              "plan again in another folder");
}

}  // namespace

TextureFiles part_files(const TextureJobChoice& choice, const std::filesystem::path& part) {
  TextureFiles files;
  if (choice.labels) files.labels = part.string() + ".labels.tif";
  if (choice.cell > 0) files.cells = part.string() + ".cells.npy";
  return files;
}

TileRows rows_of(const Job& job, const Job::Place& place) {
  TileRows rows;
  rows.first = std::llround(job.part(place).begin);
  if (std::isfinite(job.end(place))) rows.end = std::llround(job.end(place));
  return rows;
}

void put_band(ByteWriter& bytes, const TextureBand& band) {
  bytes.put(band.width);
  bytes.put(band.height);
  for (std::size_t channel = 0; channel < band.totals.channels(); ++channel) {
    for (std::size_t op = 0; op < band.totals.operators(); ++op) {
      put_counts(bytes, band.totals.of(channel, op).bins);
      put_counts(bytes, band.totals.of(channel, op).contrast);
    }
  }
  put_damage(bytes, band.damage);
  put_damage(bytes, band.lost);
}

TextureBand get_band(ByteReader& bytes, const TextureChoice& choice) {
  TextureBand band{0, 0, texture::TextureTotals(choice.settings, choice.channels.size()), {}, {}};
  band.width = bytes.get<std::int64_t>();
  band.height = bytes.get<std::int64_t>();
  if (std::min(band.width, band.height) < 1 || std::max(band.width, band.height) > kMaxSide) refuse_band();
  for (std::size_t channel = 0; channel < band.totals.channels(); ++channel) {
    for (std::size_t op = 0; op < band.totals.operators(); ++op) {
      const texture::OperatorTotals counts{get_counts(bytes), get_counts(bytes)};
      const texture::OperatorTotals& own = band.totals.of(channel, op);
      if (counts.bins.size() != own.bins.size() || counts.contrast.size() != own.contrast.size())
        refuse_band();
      band.totals.add(channel, op, counts);
    }
  }
  band.damage = get_damage(bytes);
  band.lost = get_damage(bytes);
  return band;
}

void add_band(TextureBand& sum, const TextureBand& band) {
  if (band.width != sum.width || band.height != sum.height) refuse_band();
  for (std::size_t channel = 0; channel < band.totals.channels(); ++channel) {
    for (std::size_t op = 0; op < band.totals.operators(); ++op)
      sum.totals.add(channel, op, band.totals.of(channel, op));
  }
  // Blocks at the border of two bands are read for both.
  std::set<std::pair<std::int64_t, std::int64_t>> known;
  for (const tiles::Damage& one : sum.damage) known.emplace(one.where.y, one.where.x);
  for (const tiles::Damage& one : band.damage)
    if (!known.contains({one.where.y, one.where.x})) sum.damage.push_back(one);
  sum.lost.insert(sum.lost.end(), band.lost.begin(), band.lost.end());
}

}  // namespace sightline::apps::batch
