// Prints the boxes of every frame of a video. It is built against an installed Sightline, as any other
// program.

#include <cstdio>
#include <memory>
#include <vector>

#include <sightline/base/error.hpp>
#include <sightline/base/log.hpp>
#include <sightline/base/process_policy.hpp>
#include <sightline/detectors/registry.hpp>
#include <sightline/media/reader.hpp>
#include <sightline/opencl/device.hpp>
#include <sightline/params/config.hpp>
#include <sightline/pipeline/runs/reader_source.hpp>
#include <sightline/pipeline/session/pipeline.hpp>

namespace {

class Printer : public sightline::pipeline::Sink {
 public:
  void accept(const sightline::Frame& frame, const sightline::FrameResult& result) override {
    for (const sightline::Detection& one : result.objects)
      std::printf("%lld %.0f %.0f %.0f %.0f\n", static_cast<long long>(frame.number()), one.box.x, one.box.y,
                  one.box.width, one.box.height);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: %s CONFIGURATION.toml VIDEO\n", argv[0]), 2;
  sightline::set_process_policy(sightline::kOwnProcess);  // the program does nothing else
  sightline::set_logger(spdlog::default_logger());
  sightline::add_family(sightline::network::family());  // ONNX networks
  const auto detector = sightline::make_detector(sightline::Config::load(argv[1]));
  std::vector<std::unique_ptr<sightline::DeviceStages>> stages;
  std::vector<const sightline::DeviceStages*> devices;
  for (const auto& device : sightline::opencl::choose_devices(sightline::opencl::parse_device_choices("auto"),
                                                              sightline::opencl::list_devices())) {
    stages.push_back(detector->make_stages_on(sightline::opencl::open_device(device)));
    devices.push_back(stages.back().get());
  }
  const sightline::pipeline::Devices all(devices);
  const auto schedule =
      sightline::pipeline::named_schedule(all.empty() ? "cpu" : "gpu", *detector, all, /*threads=*/2);
  sightline::pipeline::Pipeline pipeline(*detector, all, schedule);
  sightline::media::Reader reader(argv[2]);
  sightline::pipeline::ReaderSource source(reader);
  Printer printer;
  const auto report = pipeline.run({&source, argv[2], {&printer}, {}});
  std::fprintf(stderr, "%lld frames in %.2f s\n", static_cast<long long>(report.frames), report.seconds);
  return 0;
} catch (const sightline::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return static_cast<int>(error.code());
}
