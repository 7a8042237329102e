// Stage verify on a device: peaks, and the network on their pixels.
#include <algorithm>
#include <vector>

#include "detectors/filterbank/opencl/stages.hpp"

namespace sightline::filterbank {
namespace {

// Work-groups of the network for each of the device's compute units: more than can be there at a time. One
// without a window is done at once.
constexpr std::int64_t kGroupsAUnit = 8;
constexpr std::int64_t kMostScratch = std::int64_t{64} << 20;  // bytes of all of them
constexpr std::size_t kPeakItems = 256;                        // work-items per compute unit that search
                                                               // peaks

}  // namespace

void OpenClStages::build_verify() {
  const opencl::DeviceInfo& device = context().device();
  network_ = DeviceNetwork(detector_->model().network, tuning_, device.local_memory_bytes);
  if (network_.far_bytes() > kMostScratch) return;  // the CPU verifies
  verifies_ = true;
  support(kVerify);
  list(kVerified);
  verify_ = program("filterbank/network.cl", network_.options(), network_.generated());
  opencl::Queue queue(context());
  upload(queue, network_weights_, network_.weights());
  upload(queue, network_biases_, network_.biases());
  upload(queue, network_scales_, network_.scales());
  std::int64_t groups = kGroupsAUnit * std::max(device.compute_units, 1);
  if (network_.far_bytes() > 0) groups = std::min(groups, kMostScratch / network_.far_bytes());
  network_groups_ = static_cast<std::size_t>(std::max<std::int64_t>(groups, 1));
}

void OpenClStages::make_verify_scratch(OpenClSlot& slot) const {
  slot.fit(slot.network_scratch, static_cast<std::int64_t>(network_groups_) * network_.far_bytes());
}

void OpenClStages::enqueue_verify(OpenClSlot& slot) const {
  if (!slot.on_device(kPyramid)) {
    slot.pyramid.enqueue_octaves(slot.queue, slot.luma(),
                                 [&](opencl::Event event) { slot.launched("octaves", std::move(event)); });
  }
  // Beyond the limit, the host chooses; beyond the capacity, all this is done again.
  const cl_int most = std::min<cl_int>(detector_->options().max_candidates, slot.found.capacity());
  const bool all = detector_->options().verify_all;
  if (!all) {
    constexpr const char* kPart = "peaks";
    slot.launched(kPart, slot.peaks.clear(slot.queue));
    if (detector_->pre_rejects()) {
      slot.find_peaks.arguments(slot.found.buffer(), most, slot.scores, slot.level_buffer, slot.estimates,
                                cl_int{detector_->rejection_threshold()}, slot.peaks.capacity(),
                                slot.peaks.buffer());
    } else {
      slot.find_peaks.arguments(slot.found.buffer(), most, slot.scores, slot.level_buffer,
                                slot.peaks.capacity(), slot.peaks.buffer());
    }
    const auto units = static_cast<std::size_t>(std::max(context().device().compute_units, 1));
    slot.launch(kPart, slot.find_peaks, {{kPeakItems * units, 1, 1}, {0, 0, 0}});
  }
  slot.verify.arguments((all ? slot.found : slot.peaks).buffer(), most, slot.luma(), slot.pyramid.levels(),
                        slot.level_buffer, slot.pyramid.tables(), network_weights_, network_biases_,
                        network_scales_, slot.network_scratch, slot.verified.buffer());
  slot.launch(slot.verify, opencl::groups(network_groups_, static_cast<std::size_t>(tuning_.network_group)));
}

void OpenClStages::take_verified(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  const std::size_t candidates = slot.verified.source_length(1);
  if (candidates > static_cast<std::size_t>(detector_->options().max_candidates)) {
    // The limit comes before the peaks: the CPU takes the stage over.
    slot.found.make_readable(slot.queue);
    slot.queue.wait(slot.found.read(slot.queue));
    slot.found.finish_read(slot.queue, opencl::count_windows(slot.windows), [](std::size_t) {});
    take_candidates(slot, workspace);
    detector_->run_stage(kVerify, workspace);
    return;
  }
  workspace.candidates.clear();
  for (const DeviceVerified& c : slot.verified.sorted(slot.queue, slot.windows)) {
    Candidate candidate{{c.level, c.x, c.y}, detector_->score_of(c.raw_score)};
    detector_->take_verdict({c.logit_sum, {c.box_sums[0], c.box_sums[1], c.box_sums[2]}}, candidate);
    if (candidate.score >= detector_->lowest_verified()) workspace.candidates.push_back(candidate);
  }
}

}  // namespace sightline::filterbank
