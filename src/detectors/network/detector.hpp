#pragma once
/// The detector that runs a user's network: letterbox, network, decode, group.

#include <atomic>
#include <memory>
#include <vector>

#include "detection/candidate_limit.hpp"
#include "detection/detector.hpp"
#include "detectors/network/network.hpp"
#include "detectors/network/runner.hpp"
#include "processing/frame_processor.hpp"

namespace sightline::network {

/// Stages: letterbox, the parts of the network, reading of boxes, grouping. Resources: the network's inputs,
/// the results of each part, candidates, detections.
enum StageIndex : std::size_t { kLetterbox, kFirstPart };
enum ResourceIndex : std::size_t { kInput = kFrameResource + 1, kFirstResults };
inline std::size_t resource_of(std::size_t pool) {
  return kInput + pool;
}

/// Memory of one of the frames in flight, which count together. It may outlive the detector.
class MemoryShare {
 public:
  using Taken = std::atomic<std::int64_t>;
  /// Throws Error (model) where all frames would need more than the limit.
  MemoryShare(const Network& network, std::shared_ptr<Taken> taken, std::int64_t bytes);
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare() { *taken_ -= bytes_; }

 private:
  std::shared_ptr<Taken> taken_;
  std::int64_t bytes_ = 0;
};

/// One frame in flight.
class NetworkWorkspace : public Workspace {
 public:
  NetworkWorkspace(std::unique_ptr<MemoryShare> share, std::unique_ptr<Runner> runs)
      : runner(std::move(runs)), share_(std::move(share)) {}

  PictureView frame;
  Size planned;  ///< frame that `letterbox` is for
  Letterbox letterbox;
  std::unique_ptr<Runner> runner;
  std::vector<RawBox> boxes;
  std::vector<Detection> detections;

 private:
  std::unique_ptr<MemoryShare> share_;
};

/// Thread-safety: as Detector.
class NetworkDetector : public Detector {
 public:
  /// Throws Error (model).
  /// @param plain  by the reference of the network engine: in plain loops, on one thread
  explicit NetworkDetector(Network network, bool plain = false);

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resource_names_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  FramePixels pixels() const override {
    return network_.preprocessing.channels == 1 ? FramePixels::luma : FramePixels::luma_and_colour;
  }
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;
  /// Null also for devices without fused multiply-adds, or with too little local memory.
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;

  const Network& network() const { return network_; }
  /// Null where the reference runs the network.
  const Parts* parts() const { return network_.parts.get(); }

 private:
  void describe_stages();
  void fill_input(NetworkWorkspace& workspace) const;
  void decode_outputs(NetworkWorkspace& workspace) const;
  // Warns once of what shows that the network is damaged or read wrongly.
  void look_for_errors(const std::vector<const Tensor*>& outputs, const std::vector<RawBox>& boxes) const;
  Message error_in(const std::vector<const Tensor*>& outputs, const std::vector<RawBox>& boxes) const;
  void group(NetworkWorkspace& workspace) const;

  Network network_;
  std::vector<StageInfo> stages_;
  std::vector<std::string_view> resource_names_;
  DetectorInfo info_;
  CandidateLimit limit_;
  mutable std::atomic<int> looks_left_ = 30;  ///< frames that are still looked at for signs of errors
  std::shared_ptr<MemoryShare::Taken> taken_ = std::make_shared<MemoryShare::Taken>(0);
};

/// A box in the frame: where it is there, and its points by name.
Detection detection_of(const Network& network, const RawBox& box, const Placement& placement, Size frame);

/// Why a reading is doubtful, and what to try.
Message doubt_text(const Scheme& scheme);

/// The network of section [detector]; says what was found out about it.
std::unique_ptr<NetworkDetector> make_network_detector(const Config& config);

}  // namespace sightline::network
