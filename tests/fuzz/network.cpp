#include "base/error.hpp"
#include "detectors/network/detector.hpp"
#include "onnx/file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

constexpr std::int64_t kMemory = std::int64_t{16} << 20;
constexpr std::int64_t kMostWork = 10'000'000;  // multiply-adds and elements, to end soon

void look_at_a_picture(network::Network network) {
  std::int64_t work = network.multiply_adds;
  for (const nn::GraphTensor& tensor : network.graph->tensors())
    work += nn::is_known(tensor.type.shape) ? nn::elements_of(tensor.type.shape) : 0;
  if (work > kMostWork) return;
  const network::NetworkDetector detector(std::move(network));
  constexpr int kWidth = 40, kHeight = 30;
  std::vector<std::uint8_t> pixels(3 * kWidth * kHeight);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 4);
  const auto workspace = detector.make_workspace();
  detect(detector, *workspace, PackedView{pixels.data(), kWidth, kHeight, 3 * kWidth, PackedFormat::rgb24});
}

}  // namespace

void network(Bytes bytes) {
  try {
    network::Settings settings;
    settings.file = "fuzz.onnx";
    settings.memory_limit = kMemory;
    settings.input_size = Size{32, 32};
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    look_at_a_picture(network::make_network(nn::parse_onnx({text, bytes.size()}, "fuzz.onnx"), settings));
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
