// One frame's commands on a device, stage by stage, and what comes back.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/error.hpp"
#include "filterbank/opencl/impl.hpp"

namespace sightline::filterbank {
namespace {

constexpr auto kLaunch = DeviceSpan::Kind::stage;

void enqueue_pyramid(OpenClSlot& slot, OpenClSlot::Impl& i, const PictureView& frame) {
  const auto launched = [&](opencl::Event event) {
    slot.add(kLaunch, kPyramid, "pyramid", std::move(event));
  };
  if (!frame.is_gray()) launched(i.input.convert(i.queue, frame, i.octaves, i.pyramid.frame_stride()));
  i.pyramid.enqueue(i.queue, i.octaves, i.images.device(), launched);
}

void enqueue_filter(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i) {
  const auto group_x = static_cast<std::size_t>(s.tuning.filter_group);
  const auto group_y = static_cast<std::size_t>(s.tuning.filter_group_rows);
  i.filter.arguments(i.images.device(), i.level_buffer, i.filter_tiles, s.dictionary,
                     i.response_map.device());
  slot.add(kLaunch, kFilter, "filter",
           i.filter.enqueue(i.queue, {{i.tiles_filter * group_x, group_y, 1}, {group_x, group_y, 1}}));
}

void enqueue_histogram(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i) {
  const KernelTuning& t = s.tuning;
  const auto items =
      static_cast<std::size_t>(t.histogram == "owner" ? t.histogram_cells : 8 * t.histogram_cells);
  i.histogram.arguments(i.response_map.device(), i.level_buffer, i.histogram_tiles, i.tables, i.roots,
                        i.totals);
  slot.add(kLaunch, kHistogram, "histogram",
           i.histogram.enqueue(i.queue, {{i.tiles_histogram * items, 1, 1}, {items, 1, 1}}));
  const std::size_t blocks = static_cast<std::size_t>(i.widest_pitch) / t.normalise_width;
  const bool by_cells = t.normalise == "cells";
  i.normalise.arguments(i.roots, i.totals, i.level_buffer, by_cells ? i.cell_rows : i.block_rows,
                        i.features.device());
  slot.add(kLaunch, kHistogram, "normalise",
           i.normalise.enqueue(i.queue,
                               {{blocks, kBlockCells, by_cells ? i.rows_cells : i.rows_blocks}, {0, 0, 0}}));
}

void enqueue_candidates(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const auto& add) {
  add(i.queue.fill(i.found, 0, 16));
  const auto capacity = static_cast<cl_int>(i.capacity);
  if (s.detector->pre_rejects()) {
    i.candidates.arguments(i.scores, i.level_buffer, i.window_rows, cl_int{s.raw_threshold}, capacity,
                           i.estimates, cl_int{s.detector->rejection_threshold()}, i.found);
  } else {
    i.candidates.arguments(i.scores, i.level_buffer, i.window_rows, cl_int{s.raw_threshold}, capacity,
                           i.found);
  }
  add(i.candidates.enqueue(i.queue,
                           {{static_cast<std::size_t>(i.widest_pitch), 1, i.rows_windows}, {0, 0, 0}}));
}

// Estimates of all windows' sums.
void enqueue_estimates(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const auto& add) {
  const std::size_t vectors = static_cast<std::size_t>(i.widest_pitch) / s.tuning.classify_width;
  i.project.arguments(i.features.device(), i.level_buffer, i.block_rows, s.rejection_basis, i.components);
  add(i.project.enqueue(i.queue, {{vectors, 1, i.rows_blocks}, {0, 0, 0}}));
  i.estimate.arguments(i.components, i.level_buffer, i.window_rows, s.rejection_weights, i.estimates);
  add(i.estimate.enqueue(i.queue, {{vectors, 1, i.rows_windows}, {0, 0, 0}}));
}

void enqueue_classify(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i) {
  const auto add = [&](opencl::Event event) { slot.add(kLaunch, kClassify, "classify", std::move(event)); };
  const Model& model = s.detector->model();
  const auto widest = static_cast<std::size_t>(i.widest_pitch);
  const auto items = static_cast<std::size_t>(s.tuning.classify_group);
  const int kinds = kBlockCells + (s.patterns > 0 ? 1 : 0);
  const auto parts = static_cast<std::size_t>(kinds * model.window.blocks_x());
  const opencl::Range range{{i.tiles_classify * items, 1, parts}, {items, 1, 1}};
  if (model.classifier == ClassifierKind::linear) {
    add(i.queue.fill(i.scores, 0, i.scores_count * 4));
    if (s.detector->pre_rejects()) {
      enqueue_estimates(s, i, add);
      i.classify.arguments(i.features.device(), i.level_buffer, i.classify_tiles, s.weights[0], i.estimates,
                           cl_int{s.detector->rejection_threshold()}, i.scores);
    } else {
      i.classify.arguments(i.features.device(), i.level_buffer, i.classify_tiles, s.weights[0], i.scores);
    }
    add(i.classify.enqueue(i.queue, range));
  } else {
    add(i.queue.fill(i.products, 0, i.scores_count * 4));
    i.block_energies.arguments(i.features.device(), i.level_buffer, i.block_rows, i.energies);
    add(i.block_energies.enqueue(i.queue, {{widest, 1, i.rows_blocks}, {0, 0, 0}}));
    for (std::size_t k = 0; k < s.weights.size(); ++k) {
      i.classify.arguments(i.features.device(), i.level_buffer, i.classify_tiles, s.weights[k], i.products);
      add(i.classify.enqueue(i.queue, range));
      i.keep_nearest.arguments(i.products, i.scores, static_cast<cl_int>(i.scores_count), s.energies[k],
                               cl_int{k == 0});
      add(i.keep_nearest.enqueue(i.queue, {{i.scores_count, 1, 1}, {0, 0, 0}}));
    }
    i.subtract_energies.arguments(i.energies, i.level_buffer, i.window_rows, i.scores);
    add(i.subtract_energies.enqueue(i.queue, {{widest, 1, i.rows_windows}, {0, 0, 0}}));
  }
  enqueue_candidates(
      s, i, [&](opencl::Event event) { slot.add(kLaunch, kClassify, "candidates", std::move(event)); });
}

}  // namespace

void enqueue_stage(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i,
                   const PictureView& frame, std::size_t stage) {
  switch (stage) {
    case kPyramid:
      enqueue_pyramid(slot, i, frame);
      break;
    case kFilter:
      enqueue_filter(s, slot, i);
      break;
    case kHistogram:
      enqueue_histogram(s, slot, i);
      break;
    default:
      enqueue_classify(s, slot, i);
  }
}

void read_candidates(const OpenClStages::Impl& s, OpenClSlot::Impl& i, FilterbankWorkspace& workspace) {
  cl_int count = 0;
  std::memcpy(&count, i.found_staging.data(), sizeof count);
  const auto needed = static_cast<std::size_t>(std::max(count, 0));
  if (needed > i.capacity) {  // more than fits: ask again with room for all
    i.capacity = needed + needed / 4;
    i.found = opencl::Buffer(*s.context, (i.capacity + 1) * 16);
    i.found_staging = opencl::StagingBuffer(i.queue, (i.capacity + 1) * 16);
    enqueue_candidates(s, i, [](opencl::Event) {});
  }
  if (needed > kFirstCapacity) {
    i.queue.wait(i.queue.read(i.found, i.found_staging.data(), (needed + 1) * 16));
  }
  workspace.candidates.resize(needed);
  for (std::size_t k = 0; k < needed; ++k) {
    cl_int record[4];
    std::memcpy(record, i.found_staging.data() + (k + 1) * 16, sizeof record);
    // What a device says is not used as an index unchecked.
    const auto level = static_cast<std::size_t>(record[0]);
    if (level >= i.levels.size() || record[1] < 0 || record[1] >= i.levels[level].windows_x ||
        record[2] < 0 || record[2] >= i.levels[level].windows_y) {
      throw Error(ExitCode::failed, "'" + s.context->name() + "' reports a window that does not exist");
    }
    workspace.candidates[k] = {record[0], record[1], record[2], s.detector->score_of(record[3])};
  }
  // The device appends in any order; the CPU finds them in this one.
  std::sort(workspace.candidates.begin(), workspace.candidates.end());
}

}  // namespace sightline::filterbank
