// The float method's stages on a device: kernels/filterbank/float_method.cl.
#include <algorithm>

#include "base/error.hpp"
#include "detectors/filterbank/float_method.hpp"
#include "detectors/filterbank/opencl/stages.hpp"

namespace sightline::filterbank {
namespace {

constexpr int kFilterGroup = 32, kFilterGroupRows = 4;  // work-items of the filter

template <typename T>
std::vector<T> contents(OpenClSlot& slot, const opencl::Buffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  slot.queue.wait(slot.queue.read(buffer, values.data(), opencl::bytes_of(values)));
  return values;
}

}  // namespace

void OpenClStages::build_float() {
  const Model& model = detector_->model();
  if (context().device().extensions.find("cl_khr_fp64") == std::string::npos) {
    throw Error(ExitCode::usage,
                "float arithmetic needs double precision, which '" + context().name() + "' does not have",
                "use --device=none with --arithmetic=float"_message);
  }
  tuning_.filter = "plain";
  tuning_.filter_width = tuning_.filter_rows = 1;
  tuning_.filter_group = kFilterGroup;
  tuning_.filter_group_rows = kFilterGroupRows;
  using opencl::define;
  float_method_ =
      program("filterbank/float_method.cl",
              define("FILTERS", model.dictionary.size()) + define("BINS", bins_) +
                  define("BLOCKS_X", model.window.blocks_x()) + define("BLOCKS_Y", model.window.blocks_y()) +
                  define("TEMPLATES", model.templates()) +
                  opencl::define_if(model.descriptor.signed_value(), "SIGNED") +
                  define("DISTANCE", model.classifier == ClassifierKind::distance ? 1 : 0));
  opencl::Queue queue(context());
  upload(queue, dictionary_, model.dictionary.reference());
  upload(queue, weights_.emplace_back(), model.weights);
}

void OpenClStages::enqueue_in_float(OpenClSlot& slot, std::size_t stage) const {
  const Model& model = detector_->model();
  const auto over = [&](const opencl::WorkList& rows) {
    return opencl::NDRange{{static_cast<std::size_t>(slot.widest_pitch), 1, rows.size()}, {0, 0, 0}};
  };
  const opencl::Buffer& responses = slot.buffer(kResponses);
  if (stage == kFilter) {
    slot.filter.arguments(slot.buffer(kImages), slot.level_buffer, slot.filter_tiles.buffer(), dictionary_,
                          responses, slot.indices);
    slot.launch(slot.filter, opencl::groups(slot.filter_tiles.size(), kFilterGroup, kFilterGroupRows));
  } else if (stage == kHistogram) {
    slot.histogram.arguments(responses, slot.indices, slot.level_buffer, slot.cell_rows.buffer(), slot.roots);
    slot.launch(slot.histogram, over(slot.cell_rows));
    slot.normalise.arguments(slot.roots, slot.level_buffer, slot.block_rows.buffer(),
                             float_method::normalisation_epsilon(model.epsilon), slot.buffer(kFeatures));
    slot.launch("normalise", slot.normalise, over(slot.block_rows));
  } else {
    slot.classify.arguments(slot.buffer(kFeatures), slot.level_buffer, slot.window_rows.buffer(), weights_[0],
                            static_cast<double>(model.bias), model.scale, slot.scores);
    slot.launch(slot.classify, over(slot.window_rows));
  }
}

void OpenClStages::take_in_float(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  for (std::size_t l = 0; l < slot.levels.size(); ++l) {
    const DeviceLevel& d = slot.levels[l];
    std::copy_n(slot.float_scores.data() + d.scores_offset,
                static_cast<std::ptrdiff_t>(d.pitch) * d.windows_y, workspace.levels[l].float_scores.data());
  }
  workspace.candidates.clear();
  for (const Band& band : workspace.window_bands)
    detector_->collect_candidates(workspace.levels[band.level], band, workspace.candidates);
}

void OpenClStages::download_float(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  const int filters = detector_->model().dictionary.size();
  const auto responses = contents<float>(slot, slot.buffer(kResponses));
  const auto indices = contents<std::uint8_t>(slot, slot.indices);
  const auto histograms = contents<float>(slot, slot.roots);
  const auto features = contents<float>(slot, slot.buffer(kFeatures));
  for (std::size_t l = 0; l < slot.levels.size(); ++l) {
    const DeviceLevel& d = slot.levels[l];
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
            const int bin = k / filters * bins_ + k % filters;
            to[(static_cast<std::size_t>(y) * d.cells_x + x) * cells * filters + k] =
                from[offset + (static_cast<std::size_t>(y) * cells * bins_ + bin) * d.pitch + x];
          }
        }
      }
    };
    transpose(histograms, d.roots_offset, d.cells_x, d.cells_y, 1, level.float_histograms);
    transpose(features, d.features_offset, d.cells_x - 1, d.cells_y - 1, kBlockCells, level.float_features);
  }
}

}  // namespace sightline::filterbank
