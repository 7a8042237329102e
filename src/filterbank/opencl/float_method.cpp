// The float method's stages on a device: kernels/filterbank/float_method.cl.
#include <algorithm>

#include "base/error.hpp"
#include "filterbank/float_method.hpp"
#include "filterbank/opencl/impl.hpp"

namespace sightline::filterbank::float_method {
namespace {

constexpr int kGroup = 32, kGroupRows = 4;  // work-items of the filter

template <typename T>
std::vector<T> contents(OpenClSlot::Impl& i, const opencl::Buffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  i.queue.wait(i.queue.read(buffer, values.data(), bytes_of(values)));
  return values;
}

}  // namespace

void build(OpenClStages::Impl& s, opencl::ProgramCache* cache) {
  const opencl::Context& context = *s.context;
  const Model& model = s.detector->model();
  if (context.device().extensions.find("cl_khr_fp64") == std::string::npos) {
    throw Error(ExitCode::usage,
                "float arithmetic needs double precision, which '" + context.name() + "' does not have",
                "use --device none with --arithmetic float");
  }
  s.tuning.filter = "plain";
  s.tuning.filter_width = s.tuning.filter_rows = 1;
  s.tuning.filter_group = kGroup;
  s.tuning.filter_group_rows = kGroupRows;
  s.float_method = opencl::Program(
      context, "filterbank/float_method.cl",
      define("FILTERS", model.dictionary.size()) + define("BINS", s.bins) +
          define("BLOCKS_X", model.window.blocks_x()) + define("BLOCKS_Y", model.window.blocks_y()) +
          define("TEMPLATES", model.templates()) +
          define("DISTANCE", model.classifier == ClassifierKind::distance ? 1 : 0),
      cache);
  opencl::Queue queue(context);
  upload(queue, s.dictionary, model.dictionary.reference());
  upload(queue, s.weights.emplace_back(), model.weights);
}

void make_kernels(const OpenClStages::Impl& s, OpenClSlot::Impl& i) {
  i.filter = opencl::Kernel(s.float_method, "filter");
  i.histogram = opencl::Kernel(s.float_method, "histogram");
  i.normalise = opencl::Kernel(s.float_method, "normalise");
  i.classify = opencl::Kernel(s.float_method, "classify");
}

opencl::Event enqueue(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i) {
  const Model& model = s.detector->model();
  i.filter.arguments(i.images.device(), i.level_buffer, i.filter_tiles, s.dictionary, i.response_map.device(),
                     i.indices);
  i.histogram.arguments(i.response_map.device(), i.indices, i.level_buffer, i.cell_rows, i.roots);
  i.normalise.arguments(i.roots, i.level_buffer, i.block_rows, normalisation_epsilon(model.epsilon),
                        i.features.device());
  i.classify.arguments(i.features.device(), i.level_buffer, i.window_rows, s.weights[0],
                       static_cast<double>(model.bias), model.scale, i.scores);
  const auto widest = static_cast<std::size_t>(i.widest_pitch);
  const auto over = [&](std::size_t rows) { return opencl::Range{{widest, 1, rows}, {0, 0, 0}}; };
  const auto add = [&](std::size_t stage, const char* name, opencl::Event event) {
    slot.add(DeviceSpan::Kind::stage, stage, name, std::move(event));
  };
  add(kFilter, "filter",
      i.filter.enqueue(i.queue, {{i.tiles_filter * kGroup, kGroupRows, 1}, {kGroup, kGroupRows, 1}}));
  add(kHistogram, "histogram", i.histogram.enqueue(i.queue, over(i.rows_cells)));
  add(kHistogram, "normalise", i.normalise.enqueue(i.queue, over(i.rows_blocks)));
  add(kClassify, "classify", i.classify.enqueue(i.queue, over(i.rows_windows)));
  i.float_scores.resize(i.scores_count);
  return i.queue.read(i.scores, i.float_scores.data(), bytes_of(i.float_scores));
}

void complete(const OpenClStages::Impl& s, OpenClSlot::Impl& i, FilterbankWorkspace& workspace) {
  for (std::size_t l = 0; l < i.levels.size(); ++l) {
    const DeviceLevel& d = i.levels[l];
    std::copy_n(i.float_scores.data() + d.scores_offset, static_cast<std::ptrdiff_t>(d.pitch) * d.windows_y,
                workspace.levels[l].float_scores.data());
  }
  workspace.candidates.clear();
  for (const Band& band : workspace.window_bands)
    s.detector->collect_candidates(workspace.levels[band.level], band, workspace.candidates);
}

void download(const OpenClStages::Impl& s, OpenClSlot::Impl& i, FilterbankWorkspace& workspace) {
  const int filters = s.detector->model().dictionary.size();
  const auto responses = contents<float>(i, i.response_map.device());
  const auto indices = contents<std::uint8_t>(i, i.indices);
  const auto histograms = contents<float>(i, i.roots);
  const auto features = contents<float>(i, i.features.device());
  for (std::size_t l = 0; l < i.levels.size(); ++l) {
    const DeviceLevel& d = i.levels[l];
    Level& level = workspace.levels[l];
    for (int y = 0; y < d.height; ++y) {
      const std::ptrdiff_t from =
          d.response_map_offset + static_cast<std::ptrdiff_t>(y) * d.response_map_stride;
      std::copy_n(responses.data() + from, d.width, level.responses.view().row(y));
      std::copy_n(indices.data() + from, d.width, level.indices.view().row(y));
    }
    // [y][cell][bin][x] on the device, [y][x][cell][bin] on the CPU.
    const auto transpose = [&](const std::vector<float>& from, int offset, int width, int height, int cells,
                               AlignedBuffer<float>& to) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          for (int k = 0; k < cells * filters; ++k) {
            const int bin = k / filters * s.bins + k % filters;
            to[(static_cast<std::size_t>(y) * d.cells_x + x) * cells * filters + k] =
                from[offset + (static_cast<std::size_t>(y) * cells * s.bins + bin) * d.pitch + x];
          }
        }
      }
    };
    transpose(histograms, d.roots_offset, d.cells_x, d.cells_y, 1, level.float_histograms);
    transpose(features, d.features_offset, d.cells_x - 1, d.cells_y - 1, kBlockCells, level.float_features);
  }
}

}  // namespace sightline::filterbank::float_method
