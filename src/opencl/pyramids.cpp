#include "opencl/pyramids.hpp"

#include <algorithm>

#include "opencl/program_cache.hpp"

namespace sightline::opencl {
namespace {

// Mirrors `ResizedLevel` in kernels/image/octaves.clh.
struct ResizedLevel {
  cl_int width, height;
  cl_int source_offset, source_stride;
  cl_int columns_offset, rows_offset;
  cl_int image_offset, image_stride;
};

// Mirrors `SampledLevel` in kernels/image/resample.cl.
struct SampledLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int columns_offset, rows_offset;
};

// Work-items of both pyramids' work-groups; each makes four neighbouring pixels.
constexpr int kGroup = 32;
constexpr int kGroupRows = 4;
constexpr int kTilePixels = 4 * kGroup;

// An entry is the first sample's index in the upper bits, the second one's weight (0..64) in the lower eight.
cl_int add_table(std::vector<cl_int>& tables, const ResizeAxis& axis) {
  const auto at = static_cast<cl_int>(tables.size());
  for (std::size_t k = 0; k < axis.first.size(); ++k) tables.push_back(axis.first[k] << 8 | axis.weight[k]);
  return at;
}

// Pairs of an index and the weight of the sample after it.
cl_int add_table(std::vector<cl_int>& tables, const SampleAxis& axis) {
  const auto at = static_cast<cl_int>(tables.size() / 2);
  for (std::size_t k = 0; k < axis.first.size(); ++k)
    tables.insert(tables.end(), {axis.first[k], static_cast<cl_int>(axis.weight[k])});
  return at;
}

}  // namespace

void enqueue_octaves(Queue& queue, Kernel& halve, const Buffer& octaves, const Buffer& table,
                     const std::vector<Octave>& places, const Launched& launched) {
  constexpr std::size_t kAtOnce = 6;  // 64 pixels a side of a work-group become one
  constexpr std::size_t kItems = 16;  // OCTAVE_GROUP
  const auto groups_of = [](int pixels) { return (static_cast<std::size_t>(pixels) + 63) / 64; };
  for (std::size_t first = 0; first + 1 < places.size(); first += kAtOnce) {
    const Octave& source = places[first];
    if (source.width == 0 || source.height == 0) break;
    const std::size_t count = std::min(kAtOnce, places.size() - 1 - first);
    halve.arguments(octaves, table, static_cast<cl_int>(first), static_cast<cl_int>(count));
    launched(halve.enqueue(queue, {{groups_of(source.width) * kItems, groups_of(source.height) * kItems, 1},
                                   {kItems, kItems, 1}}));
  }
}

Program OctavePyramid::build(const Context& context, ProgramCache* cache) {
  return {context, "image/octaves.cl", "", cache};
}

OctavePyramid::OctavePyramid(const Program& program) : halve_(program, "halve"), resize_(program, "resize") {}

void OctavePyramid::plan(Queue& queue, std::span<const Size> octaves, std::span<const Level> levels) {
  constexpr int kLine = 64;
  const auto round_up = [](std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; };
  places_.clear();
  octave_bytes_ = 0;
  for (const Size& size : octaves) {
    const auto stride = static_cast<cl_int>(round_up(size.width));
    places_.push_back({checked(octave_bytes_), stride, size.width, size.height});
    octave_bytes_ += static_cast<std::int64_t>(stride) * size.height;
    checked(octave_bytes_);
  }
  std::vector<cl_int> tables;
  std::vector<ResizedLevel> records;
  sizes_.clear();
  for (const Level& level : levels) {
    ResizedLevel record{level.size.width, level.size.height, 0, 0, 0, 0, 0, 0};
    if (level.resizer) {
      const Octave& source = places_[static_cast<std::size_t>(level.octave)];
      record.source_offset = source.offset;
      record.source_stride = source.stride;
      record.columns_offset = add_table(tables, level.resizer->columns());
      record.rows_offset = add_table(tables, level.resizer->rows());
      record.image_offset = checked(level.first_pixel);
      record.image_stride = level.stride;
    }
    records.push_back(record);
    sizes_.push_back(level.resizer && level.stride > 0 ? level.size : Size{});
  }
  upload(queue, octave_table_, places_);
  upload(queue, levels_, records);
  upload(queue, tables_, tables);
}

void OctavePyramid::plan_rows(Queue& queue, std::span<const ImageRows> rows) {
  std::vector<Tile> tiles;
  for (std::size_t l = 0; l < sizes_.size(); ++l) {
    auto [begin, end] = rows[l];
    if (end <= begin || sizes_[l] == Size{}) continue;
    if (begin == 0) begin = -1;
    if (end == sizes_[l].height) ++end;
    add_tiles(tiles, l, {begin, end, kGroupRows}, {-4, sizes_[l].width + 1, kTilePixels});
  }
  tiles_.assign(queue, tiles);
}

void OctavePyramid::enqueue_octaves(Queue& queue, const Buffer& octaves, const Launched& launched) {
  opencl::enqueue_octaves(queue, halve_, octaves, octave_table_, places_, launched);
}

void OctavePyramid::enqueue(Queue& queue, const Buffer& octaves, const Buffer& images,
                            const Launched& launched) {
  enqueue_octaves(queue, octaves, launched);
  resize_.arguments(octaves, images, levels_, tiles_.buffer(), tables_);
  launched(resize_.enqueue(queue, groups(tiles_.size(), kGroup, kGroupRows)));
}

Program ResampledPyramid::build(const Context& context, ProgramCache* cache) {
  return {context, "image/resample.cl", "", cache};
}

ResampledPyramid::ResampledPyramid(const Program& program) : resample_(program, "resample") {}

void ResampledPyramid::plan(Queue& queue, std::span<const Level> levels) {
  std::vector<cl_int> tables;
  std::vector<SampledLevel> records;
  sizes_.clear();
  for (const Level& level : levels) {
    const cl_int columns = add_table(tables, level.samples->columns);
    const cl_int rows = add_table(tables, level.samples->rows);
    records.push_back(
        {level.size.width, level.size.height, checked(level.first_pixel), level.stride, columns, rows});
    sizes_.push_back(level.size);
  }
  upload(queue, levels_, records);
  upload(queue, tables_, tables);
}

void ResampledPyramid::plan_rows(Queue& queue, std::span<const ImageRows> rows) {
  std::vector<Tile> tiles;
  for (std::size_t l = 0; l < sizes_.size(); ++l)
    add_tiles(tiles, l, {rows[l].begin, rows[l].end, kGroupRows}, {0, sizes_[l].width, kTilePixels});
  tiles_.assign(queue, tiles);
}

void ResampledPyramid::enqueue(Queue& queue, const Buffer& source, int source_stride, const Buffer& images,
                               const Launched& launched) {
  resample_.arguments(source, source_stride, images, levels_, tiles_.buffer(), tables_);
  launched(resample_.enqueue(queue, groups(tiles_.size(), kGroup, kGroupRows)));
}

}  // namespace sightline::opencl
