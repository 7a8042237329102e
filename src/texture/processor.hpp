#pragma once
/// The frame processor that counts local binary patterns.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "processing/frame_luma.hpp"
#include "processing/frame_processor.hpp"
#include "processing/inter_stage_buffer.hpp"
#include "processing/planned_frame.hpp"
#include "texture/layout.hpp"
#include "texture/output.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// The processor's stages, in order, and the resources between them.
enum TextureStage : std::size_t { kCount, kCollect };
enum TextureResource : std::size_t { kCounts = kFrameResource + 1, kLabels, kTexture };

/// One frame in flight.
class TextureWorkspace : public Workspace {
 public:
  TextureWorkspace();
  ~TextureWorkspace() override;

  PictureView frame;  ///< frame with its border; not owned; valid until the last stage has run
  FrameLuma luma;
  PlannedFrame planned;
  TextureLayout layout;
  InterStageBuffer counts;  ///< uint32, as the layout says
  InterStageBuffer labels;  ///< bytes, likewise; none if no labels are asked for
  std::shared_ptr<TextureOutput> output;

  class Threads;  ///< counts that threads keep to themselves
  std::unique_ptr<Threads> threads;
};

/// Counts the patterns of frames, except in a border of settings.reach() pixels: the halo of a tile or the
/// edge of a picture. A frame that is all border is skipped. Colour is converted to luma. The result is a
/// TextureOutput. Immutable; thread-safety like FrameProcessor.
class TextureProcessor : public FrameProcessor {
 public:
  /// Throws Error (usage) as `check` does.
  explicit TextureProcessor(TextureSettings settings);

  const TextureSettings& settings() const { return settings_; }
  /// Bins of an operator.
  const LbpBins& bins(std::size_t index) const { return bins_[index]; }

  const ProcessorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  void take_result(Workspace& workspace, FrameResult& result) const override;

 private:
  void count(TextureWorkspace& workspace) const;
  void collect(TextureWorkspace& workspace) const;

  TextureSettings settings_;
  std::vector<LbpBins> bins_;  ///< bins by operator
  ProcessorInfo info_;
};

}  // namespace sightline::texture
