// Enqueues one frame's commands on a device, stage by stage, and takes the results.
#include "detectors/filterbank/opencl/stages.hpp"

namespace sightline::filterbank {

void OpenClStages::enqueue_pyramid(OpenClSlot& slot) const {
  slot.pyramid.enqueue(slot.queue, slot.luma(), slot.buffer(kImages),
                       [&](opencl::Event event) { slot.launched(std::move(event)); });
}

void OpenClStages::enqueue_filter(OpenClSlot& slot) const {
  slot.filter.arguments(slot.buffer(kImages), slot.level_buffer, slot.filter_tiles.buffer(), dictionary_,
                        slot.buffer(kResponses));
  slot.launch(slot.filter, opencl::groups(slot.filter_tiles.size(), tuning_.filter_group,
                                          static_cast<std::size_t>(tuning_.filter_group_rows)));
}

void OpenClStages::enqueue_histogram(OpenClSlot& slot) const {
  const KernelTuning& t = tuning_;
  slot.histogram.arguments(slot.buffer(kResponses), slot.level_buffer, slot.histogram_tiles.buffer(),
                           slot.tables, slot.roots, slot.totals);
  slot.launch(slot.histogram,
              opencl::groups(slot.histogram_tiles.size(),
                             t.histogram == "owner" ? t.histogram_cells : 8 * t.histogram_cells));
  const bool by_cells = t.normalise == "cells";
  const opencl::WorkList& rows = by_cells ? slot.cell_rows : slot.block_rows;
  slot.normalise.arguments(slot.roots, slot.totals, slot.level_buffer, rows.buffer(), slot.buffer(kFeatures));
  const std::size_t blocks = static_cast<std::size_t>(slot.widest_pitch) / t.normalise_width;
  slot.launch("normalise", slot.normalise, {{blocks, kBlockCells, rows.size()}, {0, 0, 0}});
}

void OpenClStages::enqueue_candidates(OpenClSlot& slot) const {
  constexpr const char* kPart = "candidates";
  slot.launched(kPart, slot.found.clear(slot.queue));
  const cl_int raw_threshold = detector_->raw_threshold();
  if (detector_->pre_rejects()) {
    slot.candidates.arguments(slot.scores, slot.level_buffer, slot.window_rows.buffer(), raw_threshold,
                              slot.found.capacity(), slot.estimates, cl_int{detector_->rejection_threshold()},
                              slot.found.buffer());
  } else {
    slot.candidates.arguments(slot.scores, slot.level_buffer, slot.window_rows.buffer(), raw_threshold,
                              slot.found.capacity(), slot.found.buffer());
  }
  slot.launch(kPart, slot.candidates,
              {{static_cast<std::size_t>(slot.widest_pitch), 1, slot.window_rows.size()}, {0, 0, 0}});
}

void OpenClStages::enqueue_classify(OpenClSlot& slot) const {
  const Model& model = detector_->model();
  const auto widest = static_cast<std::size_t>(slot.widest_pitch);
  const auto count = static_cast<std::size_t>(slot.sizes.scores);
  const opencl::Buffer& features = slot.buffer(kFeatures);
  const int kinds = kBlockCells + (patterns_ > 0 ? 1 : 0);
  opencl::NDRange range = opencl::groups(slot.classify_tiles.size(), tuning_.classify_group);
  range.global[2] = static_cast<std::size_t>(kinds * model.window.blocks_x());
  // Over all rows of all levels, `columns` work-items each.
  const auto over = [&](const opencl::WorkList& rows, std::size_t columns) {
    return opencl::NDRange{{columns, 1, rows.size()}, {0, 0, 0}};
  };
  if (model.classifier == ClassifierKind::linear) {
    slot.launched(slot.queue.fill(slot.scores, 0, count * 4));
    if (detector_->pre_rejects()) {  // estimates of all windows' sums first
      const std::size_t vectors = widest / tuning_.classify_width;
      slot.project.arguments(features, slot.level_buffer, slot.block_rows.buffer(), rejection_basis_,
                             slot.components);
      slot.launch(slot.project, over(slot.block_rows, vectors));
      slot.estimate.arguments(slot.components, slot.level_buffer, slot.window_rows.buffer(),
                              rejection_weights_, slot.estimates);
      slot.launch(slot.estimate, over(slot.window_rows, vectors));
      slot.classify.arguments(features, slot.level_buffer, slot.classify_tiles.buffer(), weights_[0],
                              slot.estimates, cl_int{detector_->rejection_threshold()}, slot.scores);
    } else {
      slot.classify.arguments(features, slot.level_buffer, slot.classify_tiles.buffer(), weights_[0],
                              slot.scores);
    }
    slot.launch(slot.classify, range);
  } else {
    slot.launched(slot.queue.fill(slot.products, 0, count * 4));
    slot.block_energies.arguments(features, slot.level_buffer, slot.block_rows.buffer(), slot.energies);
    slot.launch(slot.block_energies, over(slot.block_rows, widest));
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      slot.classify.arguments(features, slot.level_buffer, slot.classify_tiles.buffer(), weights_[k],
                              slot.products);
      slot.launch(slot.classify, range);
      slot.keep_nearest.arguments(slot.products, slot.scores, static_cast<cl_int>(count), energies_[k],
                                  cl_int{k == 0});
      slot.launch(slot.keep_nearest, {{count, 1, 1}, {0, 0, 0}});
    }
    slot.subtract_energies.arguments(slot.energies, slot.level_buffer, slot.window_rows.buffer(),
                                     slot.scores);
    slot.launch(slot.subtract_energies, over(slot.window_rows, widest));
  }
  enqueue_candidates(slot);
}

void OpenClStages::enqueue(OpenClSlot& slot, const FilterbankWorkspace& /*workspace*/,
                           std::size_t stage) const {
  if (stage == kPyramid) {
    enqueue_pyramid(slot);
  } else if (!exact_) {
    enqueue_in_float(slot, stage);
  } else if (stage == kFilter) {
    enqueue_filter(slot);
  } else if (stage == kHistogram) {
    enqueue_histogram(slot);
  } else if (stage == kClassify) {
    enqueue_classify(slot);
  } else {
    enqueue_verify(slot);
  }
}

// The scores are still there.
void OpenClStages::refill(OpenClSlot& slot, const FilterbankWorkspace& /*workspace*/,
                          std::size_t resource) const {
  enqueue_candidates(slot);
  if (resource == kVerified) enqueue_verify(slot);
}

opencl::Event OpenClStages::read(OpenClSlot& slot, std::size_t resource) const {
  if (exact_) return OpenClStagesOf::read(slot, resource);
  slot.float_scores.resize(static_cast<std::size_t>(slot.sizes.scores));
  return slot.queue.read(slot.scores, slot.float_scores.data(), opencl::bytes_of(slot.float_scores));
}

void OpenClStages::take(OpenClSlot& slot, FilterbankWorkspace& workspace, std::size_t resource) const {
  if (!exact_) {
    take_in_float(slot, workspace);
  } else if (resource == kCandidates) {
    take_candidates(slot, workspace);
  } else {
    take_verified(slot, workspace);
  }
}

void OpenClStages::take_candidates(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  workspace.candidates.clear();
  for (const DeviceCandidate& c : slot.found.sorted(slot.queue, slot.windows))
    workspace.candidates.push_back({{c.level, c.x, c.y}, detector_->score_of(c.raw_score)});
}

}  // namespace sightline::filterbank
