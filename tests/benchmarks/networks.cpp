// Times networks for tools/compare-networks, which times ONNX Runtime in turn with it.
//
//   bench_networks MODEL THREADS [SET]  for each number on standard input: runs the network so often, and
//                                       prints the median in milliseconds
//   bench_networks --write FILE         writes a network of YOLOv8n's shape with random weights
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/hardware.hpp"
#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "network/onnx_builder.hpp"

namespace sightline {
namespace {

using test::OnnxBuilder;
constexpr std::int64_t kOne = 1;

// Layers of YOLOv8, as they are called there.
class Yolov8 {
 public:
  OnnxBuilder builder;

  std::string conv(const std::string& in, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                   std::int64_t stride = 1) {
    const std::string name = "c" + std::to_string(++count_);
    builder.convolution(name, in, inputs, outputs, kernel, stride);
    builder.node("Sigmoid", {name}, {name + "_sig"});
    builder.node("Mul", {name, name + "_sig"}, {name + "_silu"});
    return name + "_silu";
  }
  std::string concat(const std::vector<std::string>& in) {
    const std::string name = "cat" + std::to_string(++count_);
    builder.node("Concat", in, {name}, {{"axis", kOne}});
    return name;
  }
  std::string c2f(const std::string& in, std::int64_t inputs, std::int64_t outputs, int blocks, bool adds) {
    const std::int64_t half = outputs / 2;
    const std::string first = conv(in, inputs, outputs, 1), name = "split" + std::to_string(++count_);
    builder.node("Split", {first, builder.wholes(name + "_sizes", {2}, {half, half})},
                 {name + "a", name + "b"}, {{"axis", kOne}});
    std::vector<std::string> all{name + "a", name + "b"};
    for (int i = 0; i < blocks; ++i) {
      const std::string inner = conv(conv(all.back(), half, half, 3), half, half, 3);
      if (adds) builder.node("Add", {all.back(), inner}, {inner + "_sum"});
      all.push_back(adds ? inner + "_sum" : inner);
    }
    return conv(concat(all), (2 + blocks) * half, outputs, 1);
  }
  std::string pooled(const std::string& in) {
    const std::string name = "pool" + std::to_string(++count_);
    builder.node("MaxPool", {in}, {name}, {{"kernel_shape", {5, 5}}, {"pads", {2, 2, 2, 2}}});
    return name;
  }
  std::string doubled(const std::string& in) {
    const std::string name = "up" + std::to_string(++count_);
    builder.node(
        "Resize", {in, "", builder.reals(name + "_scales", {4}, {1, 1, 2, 2})}, {name},
        {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}});
    return name;
  }
  void head(const std::string& in, std::int64_t inputs) {
    const std::string name = "out" + std::to_string(++count_);
    const std::string box = conv(conv(in, inputs, 64, 3), 64, 64, 3),
                      label = conv(conv(in, inputs, 80, 3), 80, 80, 3);
    builder.node("Concat",
                 {builder.convolution(name + "_box", box, 64, 64, 1),
                  builder.convolution(name + "_cls", label, 80, 80, 1)},
                 {name}, {{"axis", kOne}});
    builder.output(name);
  }

 private:
  int count_ = 0;
};

void write_yolov8n(const std::string& file) {
  Yolov8 net;
  const std::string images = net.builder.input("images", {1, 3, 640, 640});
  std::string x = net.conv(net.conv(images, 3, 16, 3, 2), 16, 32, 3, 2);
  const std::string p3 = net.c2f(net.conv(net.c2f(x, 32, 32, 1, true), 32, 64, 3, 2), 64, 64, 2, true);
  const std::string p4 = net.c2f(net.conv(p3, 64, 128, 3, 2), 128, 128, 2, true);
  x = net.conv(net.c2f(net.conv(p4, 128, 256, 3, 2), 256, 256, 1, true), 256, 128, 1);
  const std::string a = net.pooled(x), b = net.pooled(a);
  const std::string p5 = net.conv(net.concat({x, a, b, net.pooled(b)}), 512, 256, 1);
  const std::string n4 = net.c2f(net.concat({net.doubled(p5), p4}), 384, 128, 1, false);
  const std::string n3 = net.c2f(net.concat({net.doubled(n4), p3}), 192, 64, 1, false);
  const std::string m4 = net.c2f(net.concat({net.conv(n3, 64, 64, 3, 2), n4}), 192, 128, 1, false);
  const std::string m5 = net.c2f(net.concat({net.conv(m4, 128, 128, 3, 2), p5}), 384, 256, 1, false);
  net.head(n3, 64);
  net.head(m4, 128);
  net.head(m5, 256);
  net.builder.save(file);
}

double median_of(network::Runner& runner, int runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const Clock::time_point start = Clock::now();
    runner.run_all();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

int time_on_request(const std::string& model, int threads) {
  network::Settings settings;
  settings.file = model;
  settings.max_bytes = std::uint64_t{1} << 30;
  const network::NetworkDetector detector(network::load_network(settings));
  const auto workspace = detector.make_workspace();
  network::Runner& runner = *static_cast<network::NetworkWorkspace&>(*workspace).runner;
  network::fill_fixed(detector.network(), runner);
  oneapi::tbb::task_arena arena(threads);
  for (int runs = 0; std::cin >> runs;) {
    std::printf("%.4f\n", arena.execute([&] { return median_of(runner, std::max(1, runs)); }));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace sightline

int main(int argc, char** argv) {
  const std::string first = argc > 2 ? argv[1] : "";
  if (argc != 3 && argc != 4) {
    std::fputs("usage: bench_networks MODEL THREADS [INSTRUCTION SET], or bench_networks --write FILE\n",
               stderr);
    return 2;
  }
  if (first == "--write") {
    sightline::write_yolov8n(argv[2]);
    return 0;
  }
  if (argc == 4) sightline::limit_instruction_set(argv[3]);
  return sightline::time_on_request(first, std::max(1, std::atoi(argv[2])));
}
