// Readies a slot for a frame size: geometry, work lists and buffers of all pyramid levels.
#include <algorithm>

#include "filterbank/opencl/impl.hpp"

namespace sightline::filterbank {
namespace {

// Places from `first` in steps of (step_x, step_y) that lie in columns below `columns(level)` and
// `rows(level)`.
std::vector<Tile> make_tiles(const FilterbankWorkspace& workspace, int step_x, int step_y, int first_x,
                             const auto& columns, const auto& rows) {
  std::vector<Tile> tiles;
  for (std::size_t l = 0; l < workspace.levels.size(); ++l) {
    const Level& level = workspace.levels[l];
    const Rows range = rows(level);
    for (int y = range.begin; y < range.end; y += step_y) {
      for (int x = first_x; x < columns(level); x += step_x)
        tiles.push_back({static_cast<cl_int>(l), x, y, 0});
    }
  }
  return tiles;
}

cl_int take(std::int64_t& next, std::int64_t count) {
  const std::int64_t at = next;
  next += (count + 63) / 64 * 64;
  checked(next);
  return checked(at);
}

// Where everything lies; products as in the workspace.
void plan_geometry(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const FilterbankWorkspace& workspace) {
  i.sizes = {};
  i.sizes.totals = i.sizes.features = kFirstElement;
  std::vector<Size> octaves{workspace.planned.size()};
  for (const auto& octave : workspace.octaves) octaves.push_back({octave.width(), octave.height()});
  std::vector<opencl::OctavePyramid::Level> images;
  std::vector<cl_int> tables;
  const auto add_edges = [&](const std::vector<std::int32_t>& edges) {
    const auto at = static_cast<cl_int>(tables.size());
    tables.insert(tables.end(), edges.begin(), edges.end());
    return at;
  };
  i.levels.clear();
  i.widest_pitch = 0;
  for (const Level& level : workspace.levels) {
    DeviceLevel d{};
    d.width = level.plan.size.width;
    d.height = level.plan.size.height;
    if (level.is_computed) {
      d.image_stride = static_cast<cl_int>(PaddedImage::stride_for(d.width));
      d.image_offset = checked(level.layout.images + PaddedImage::first_pixel(d.width));
    }
    images.push_back({level.is_computed ? level.resizer.get() : nullptr, level.plan.octave, level.plan.size,
                      d.image_offset, d.image_stride});
    d.response_map_stride = response_map_stride(workspace.levels[level.source_level].plan.size.width);
    d.response_map_offset = checked(workspace.levels[level.source_level].layout.response_map);
    d.cell_columns_offset = add_edges(level.edges.columns);
    d.cell_rows_offset = add_edges(level.edges.rows);
    d.cells_x = level.grid.cells_x;
    d.cells_y = level.grid.cells_y;
    d.pitch = level.grid.pitch();
    d.roots_offset =
        take(i.sizes.roots, static_cast<std::int64_t>(s.bins + s.patterns) * d.pitch * d.cells_y);
    d.totals_offset = take(i.sizes.totals, static_cast<std::int64_t>(d.pitch) * d.cells_y);
    d.features_offset = s.exact ? checked(level.layout.features)
                                : take(i.sizes.features, static_cast<std::int64_t>(kBlockCells) * s.bins *
                                                             d.pitch * (d.cells_y - 1));
    d.windows_x = level.windows_x;
    d.windows_y = level.windows_y;
    d.scores_offset = take(i.sizes.scores, static_cast<std::int64_t>(d.pitch) * d.windows_y);
    i.widest_pitch = std::max(i.widest_pitch, d.pitch);
    i.levels.push_back(d);
  }
  i.scores_count = static_cast<std::size_t>(i.sizes.scores);
  upload(i.queue, i.level_buffer, i.levels);
  i.pyramid.plan(i.queue, octaves, images);
  upload(i.queue, i.tables, tables);
}

// Which work-group or row works where, for the workspace's partition of the frame.
void plan_work(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const FilterbankWorkspace& w) {
  const KernelTuning& t = s.tuning;
  const auto one = [](const Level&) { return 1; };
  const auto rows = [&](auto member) { return [member](const Level& level) { return level.rows.*member; }; };
  std::vector<opencl::ImageRows> image_rows;
  for (const Level& level : w.levels) image_rows.push_back({level.rows.image.begin, level.rows.image.end});
  i.pyramid.plan_rows(i.queue, image_rows);
  i.tiles_filter =
      upload(i.queue, i.filter_tiles,
             make_tiles(
                 w, t.filter_width * t.filter_group, t.filter_rows * t.filter_group_rows, 0,
                 [](const Level& level) { return level.plan.size.width; }, rows(&LevelRows::response_map)));
  i.tiles_histogram =
      upload(i.queue, i.histogram_tiles,
             make_tiles(
                 w, t.histogram_cells, 1, 0, [](const Level& level) { return level.grid.pitch(); },
                 rows(&LevelRows::cells)));
  i.tiles_classify = upload(i.queue, i.classify_tiles,
                            make_tiles(
                                w, t.classify_width * t.classify_group, t.classify_rows, 0,
                                [](const Level& level) { return level.windows_x; },
                                [](const Level& level) { return level.windows; }));
  i.rows_cells = upload(i.queue, i.cell_rows, make_tiles(w, 1, 1, 0, one, rows(&LevelRows::cells)));
  i.rows_blocks = upload(i.queue, i.block_rows, make_tiles(w, 1, 1, 0, one, rows(&LevelRows::blocks)));
  i.rows_windows = upload(i.queue, i.window_rows,
                          make_tiles(w, 1, 1, 0, one, [](const Level& level) { return level.windows; }));
}

}  // namespace

void plan(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const FilterbankWorkspace& workspace) {
  i.planned.update(
      workspace.planned.size(), workspace.planned.partition(), [&] { plan_geometry(s, i, workspace); },
      [&] { plan_work(s, i, workspace); });
}

void make_buffers(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const FilterbankWorkspace& workspace,
                  std::size_t stage) {
  // Slack at the ends: vectors read past the last element of a level, never write past it.
  constexpr std::size_t kSlack = InterStageBuffer::kSlack;
  const opencl::Context& context = *s.context;
  const auto make = [&](opencl::Buffer& buffer, std::int64_t bytes) {
    const std::size_t size = static_cast<std::size_t>(bytes) + kSlack;
    if (buffer.bytes() != size) buffer = opencl::Buffer(context, size);
  };
  const auto make_shared = [&](opencl::SharedBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() != bytes + kSlack) buffer = opencl::SharedBuffer(i.queue, bytes + kSlack);
  };
  const auto features = s.exact ? workspace.features.bytes() : static_cast<std::size_t>(i.sizes.features * 4);
  if (stage == kPyramid) {
    make(i.octaves, i.pyramid.octave_bytes());
    i.input.prepare(i.queue, workspace.frame, i.pyramid.frame_stride());
  }
  if (stage == kPyramid || stage == kFilter) make_shared(i.images, workspace.images.bytes());
  if (stage == kFilter || stage == kHistogram) {
    make_shared(i.response_map, workspace.response_map.bytes());
    if (!s.exact) make(i.indices, static_cast<std::int64_t>(workspace.response_map.bytes() / 4));
  }
  if (stage == kHistogram) {
    make(i.roots, i.sizes.roots * 4);
    make(i.totals, i.sizes.totals * 4);
  }
  if (stage == kHistogram || stage == kClassify) make_shared(i.features, features);
  if (stage != kClassify) return;
  make(i.scores, i.sizes.scores * (s.exact ? 4 : 8));
  if (!s.exact) return;
  if (s.detector->pre_rejects()) {
    make(i.components, i.sizes.totals * 4 * PreRejection::kRank);
    make(i.estimates, i.sizes.scores * 4);
  }
  if (s.detector->model().classifier == ClassifierKind::distance) {
    make(i.products, i.sizes.scores * 4);
    make(i.energies, i.sizes.totals * 4);
  }
  if (i.capacity == 0) {
    i.capacity = kFirstCapacity;
    i.found = opencl::Buffer(context, (i.capacity + 1) * 16);
    i.found_staging = opencl::StagingBuffer(i.queue, (i.capacity + 1) * 16);
  }
}

}  // namespace sightline::filterbank
