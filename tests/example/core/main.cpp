// A frame processor of one's own, with the core alone: prints how bright each of three frames is.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sightline/frame/frame.hpp>
#include <sightline/frame/frame_result.hpp>
#include <sightline/pipeline/session/pipeline.hpp>
#include <sightline/pipeline/session/sources.hpp>
#include <sightline/processing/frame_processor.hpp>

namespace {

using namespace sightline;

struct Brightness : FrameOutput {
  explicit Brightness(double value) : mean(value) {}
  std::string difference(const FrameOutput& other) const override {
    return mean == static_cast<const Brightness&>(other).mean ? "" : "other brightness";
  }
  double mean;
};

struct BrightnessWorkspace : Workspace {
  GrayView frame;
  double mean = 0;
};

class BrightnessProcessor : public FrameProcessor {
 public:
  const ProcessorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override {
    static constexpr std::string_view kResources[] = {"frame", "mean"};
    return kResources;
  }
  std::span<const StageInfo> stages() const override {
    static constexpr StageInfo kStages[] = {{"mean", {kFrameResource}, {kFrameResource + 1}}};
    return kStages;
  }
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<BrightnessWorkspace>();
  }
  bool prepare(Workspace& workspace, PictureView frame, Partition) const override {
    static_cast<BrightnessWorkspace&>(workspace).frame = frame.gray();
    return true;
  }
  void run_stage(std::size_t, Workspace& workspace) const override {
    auto& own = static_cast<BrightnessWorkspace&>(workspace);
    double sum = 0;
    for (int y = 0; y < own.frame.height(); ++y)
      for (int x = 0; x < own.frame.width(); ++x) sum += own.frame.at(x, y);
    own.mean = sum / (own.frame.width() * own.frame.height());
  }
  void take_result(Workspace& workspace, FrameResult& result) const override {
    result.output = std::make_shared<Brightness>(static_cast<BrightnessWorkspace&>(workspace).mean);
  }

 private:
  ProcessorInfo info_{"brightness", "none", "brightness", "", "", ""};
};

class BrightnessPrinter : public pipeline::Sink {
 public:
  void accept(const Frame& frame, const FrameResult& result) override {
    std::printf("%lld %.1f\n", static_cast<long long>(frame.number()),
                static_cast<const Brightness&>(*result.output).mean);
  }
};

}  // namespace

int main() {
  std::vector<Frame> frames;
  for (const std::uint8_t gray : {10, 20, 30}) {
    const std::vector<std::uint8_t> pixels(64 * 48, gray);
    frames.push_back(frame_from_gray(GrayView(pixels.data(), 64, 48, 64)));
  }
  const BrightnessProcessor processor;
  pipeline::MemorySource source(std::move(frames), 3);
  const pipeline::Devices none;
  pipeline::Pipeline pipeline(processor, none, pipeline::named_schedule("cpu", processor, none, 2));
  BrightnessPrinter printer;
  return pipeline.run({&source, "memory", {&printer}, {}}).frames == 3 ? 0 : 1;
}
