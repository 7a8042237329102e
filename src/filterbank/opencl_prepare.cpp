// Readies a slot for a frame size: geometry, work lists and buffers of all pyramid levels.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "filterbank/opencl_impl.hpp"

namespace sightline::filterbank {
namespace {

std::vector<Tile> make_tiles(const std::vector<DeviceLevel>& levels, int step_x, int step_y, int from_x,
                             int from_y, const auto& extent) {
  std::vector<Tile> tiles;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Size size = extent(levels[l]);
    for (int y = from_y; y < size.height; y += step_y) {
      for (int x = from_x; x < size.width; x += step_x) tiles.push_back({static_cast<cl_int>(l), x, y, 0});
    }
  }
  return tiles;
}

}  // namespace

void OpenClStages::prepare(OpenClSlot& slot, const FilterbankWorkspace& workspace) const {
  const Impl& s = *impl_;
  OpenClSlot::Impl& i = *slot.impl_;
  if (i.frame_size == workspace.frame_size) return;
  i.frame_size = {};  // until everything below has succeeded
  const opencl::Context& context = *s.context;
  const Model& model = s.detector->model();

  // Offsets as 64-bit sums: a frame too large for the kernels' 32-bit indices is refused, not wrapped.
  std::int64_t octaves = 0, images = 0, votes = 0, roots = 0, scores = 0;
  std::int64_t totals = 64, features = 64;  // `normalise` touches the element before a level's first
  const auto take = [](std::int64_t& next, std::int64_t count) {
    const std::int64_t at = next;
    next += (count + 63) / 64 * 64;
    if (next > std::numeric_limits<cl_int>::max()) {
      throw Error(ExitCode::failed, "the frame's pyramid is too large for the OpenCL stages",
                  "use a larger --min-size, a larger --scale-step, or --device none");
    }
    return static_cast<cl_int>(at);
  };

  i.octave_places.clear();
  for (std::size_t o = 0; o <= workspace.octaves.size(); ++o) {
    const Size size = o == 0 ? workspace.frame_size
                             : Size{workspace.octaves[o - 1].width(), workspace.octaves[o - 1].height()};
    const int stride = round_up(size.width, 64);
    const cl_int offset = take(octaves, static_cast<std::int64_t>(stride) * size.height);
    i.octave_places.push_back({offset, stride, size.width, size.height});
  }

  std::vector<cl_int> tables;
  const auto add_table = [&](const ResizeAxis& axis) {
    const auto at = static_cast<cl_int>(tables.size());
    for (std::size_t k = 0; k < axis.first.size(); ++k) tables.push_back(axis.first[k] << 8 | axis.weight[k]);
    return at;
  };
  i.levels.clear();
  i.widest_pitch = 0;
  for (const Level& level : workspace.levels) {
    DeviceLevel d{};
    d.width = level.plan.size.width;
    d.height = level.plan.size.height;
    const DeviceOctave& octave = i.octave_places[level.plan.octave];
    d.source_offset = octave.offset;
    d.source_stride = octave.stride;
    d.source_width = octave.width;
    d.source_height = octave.height;
    d.columns_offset = add_table(level.resizer->columns());
    d.rows_offset = add_table(level.resizer->rows());
    // Room for the border, and for vectors that reach past the last pixel.
    d.image_stride = 64 + round_up(d.width + 32, 64);
    d.image_offset =
        take(images, static_cast<std::int64_t>(d.image_stride) * (d.height + 2)) + d.image_stride + 64;
    d.votes_stride = round_up(d.width, 64);
    d.votes_offset = take(votes, static_cast<std::int64_t>(d.votes_stride) * d.height);
    d.cells_x = level.grid.cells_x;
    d.cells_y = level.grid.cells_y;
    d.pitch = round_up(level.grid.pitch(), 32);
    d.roots_offset = take(roots, static_cast<std::int64_t>(s.bins) * d.pitch * d.cells_y);
    d.totals_offset = take(totals, static_cast<std::int64_t>(d.pitch) * d.cells_y);
    // Elements of four bytes: four features, or one of the float method.
    const int block_size = s.exact ? s.bins : kBlockCells * s.bins;
    d.features_offset = take(features, static_cast<std::int64_t>(block_size) * d.pitch * (d.cells_y - 1));
    d.windows_x = level.windows_x;
    d.windows_y = level.windows_y;
    d.scores_offset = take(scores, static_cast<std::int64_t>(d.pitch) * d.windows_y);
    i.widest_pitch = std::max(i.widest_pitch, d.pitch);
    i.levels.push_back(d);
  }
  i.scores_count = static_cast<std::size_t>(scores);

  // Tiles of every stage.
  const KernelTuning& t = s.tuning;
  const auto pixels = [](const DeviceLevel& d) { return Size{d.width, d.height}; };
  const auto upload = [&](opencl::Buffer& buffer, const auto& values) {
    buffer = opencl::Buffer(context, bytes_of(values), opencl::Buffer::Access::read_only);
    if (!values.empty()) i.queue.write_now(buffer, values.data(), bytes_of(values));
    return values.size();
  };
  upload(i.level_buffer, i.levels);
  upload(i.octave_buffer, i.octave_places);
  upload(i.tables, tables);
  i.tiles_resize = upload(i.resize_tiles,
                          make_tiles(i.levels, kResizeTileX, kResizeTileY, -4, -1, [](const DeviceLevel& d) {
                            return Size{d.width + 1, d.height + 1};
                          }));
  i.tiles_filter = upload(i.filter_tiles, make_tiles(i.levels, t.filter_width * t.filter_group,
                                                     t.filter_rows * t.filter_group_rows, 0, 0, pixels));
  i.tiles_histogram =
      upload(i.histogram_tiles, make_tiles(i.levels, t.histogram_cells, 1, 0, 0, [](const DeviceLevel& d) {
               return Size{d.pitch, d.cells_y};
             }));
  i.tiles_classify = upload(i.classify_tiles, make_tiles(i.levels, t.classify_width * t.classify_group,
                                                         t.classify_rows, 0, 0, [](const DeviceLevel& d) {
                                                           return Size{d.windows_x, d.windows_y};
                                                         }));
  i.rows_cells = upload(i.cell_rows, make_tiles(i.levels, 1, 1, 0, 0, [](const DeviceLevel& d) {
                          return Size{1, d.cells_y};
                        }));
  i.rows_blocks = upload(i.block_rows, make_tiles(i.levels, 1, 1, 0, 0, [](const DeviceLevel& d) {
                           return Size{1, d.cells_y - 1};
                         }));
  i.rows_windows = upload(i.window_rows, make_tiles(i.levels, 1, 1, 0, 0, [](const DeviceLevel& d) {
                            return Size{1, d.windows_y};
                          }));

  // Slack at the ends: vectors read past the last element of a level, never write past it.
  constexpr std::int64_t kSlack = 256;
  const auto make = [&](std::int64_t bytes) {
    return opencl::Buffer(context, static_cast<std::size_t>(bytes + kSlack));
  };
  i.octaves = make(octaves);
  i.images = make(images);
  i.votes = make(votes * 4);
  i.roots = make(roots * 4);
  i.features = make(features * 4);
  if (!context.device().unified_memory) {
    i.frame_staging = opencl::StagingBuffer(
        i.queue, static_cast<std::size_t>(i.octave_places[0].stride) * workspace.frame_size.height);
  }
  i.resize.arguments(i.octaves, i.images, i.level_buffer, i.resize_tiles, i.tables);
  if (!s.exact) {
    i.indices = make(votes);
    i.scores = make(scores * 8);
    float_method::prepare(s, i);
    i.frame_size = workspace.frame_size;
    return;
  }
  i.totals = make(totals * 4);
  i.scores = make(scores * 4);
  if (model.classifier == ClassifierKind::distance) {
    i.products = make(scores * 4);
    i.energies = make(totals * 4);
  }
  i.capacity = kFirstCapacity;
  i.found = make(static_cast<std::int64_t>(i.capacity + 1) * 16);
  i.found_staging = opencl::StagingBuffer(i.queue, (i.capacity + 1) * 16);

  i.filter.arguments(i.images, i.level_buffer, i.filter_tiles, s.dictionary, i.votes);
  i.histogram.arguments(i.votes, i.level_buffer, i.histogram_tiles, i.roots, i.totals);
  i.normalise.arguments(i.roots, i.totals, i.level_buffer,
                        t.normalise == "cells" ? i.cell_rows : i.block_rows, i.features);
  i.frame_size = workspace.frame_size;
}

}  // namespace sightline::filterbank
