// Fusion of imported networks: it keeps all bits, nodes of a group read each other at points alone, and the
// public networks have their numbers of waves.
#include "network/plan/fuse.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "network/reference.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"
#include "onnx_import/random_chain.hpp"
#include "onnx_import/random_network.hpp"
#include "primitives/made_tensors.hpp"
#include "primitives/point_check.hpp"
#include "support/shared_data.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kMemoryOfFusion = std::int64_t{1} << 30;

std::vector<Tensor> made_inputs(const Graph& graph, std::uint32_t seed) {
  std::vector<Tensor> inputs;
  for (const int input : graph.inputs()) {
    const bool is_odd = graph.type(input).data == DataType::f32 && seed % 2 == 1;
    inputs.push_back(is_odd ? made_odd(graph.shape(input), seed)
                            : with_type(graph.type(input).data,
                                        [&]<typename T>() { return made<T>(graph.shape(input), seed); }));
  }
  return inputs;
}

// What is wrong with the fusion of a network; nothing where it fails with such inputs.
std::string wrong_in(const test::OnnxBuilder& builder, std::uint32_t seed) {
  const std::string bytes = builder.bytes();
  const Graph graph = import_onnx(parse_onnx(bytes, "test.onnx"), kMemoryOfFusion);
  const Fusion fusion = fuse(graph);
  const std::vector<Tensor> inputs = made_inputs(graph, seed);
  std::vector<const Tensor*> pointers;
  for (const Tensor& one : inputs) pointers.push_back(&one);
  std::vector<Tensor> wanted;
  try {
    wanted = run_reference(graph, pointers);
  } catch (const Error&) {
    return "";
  }
  const std::vector<Tensor> got = run_reference(fusion.graph, pointers);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!same(got[i], wanted[i])) return "output " + std::to_string(i) + "\n" + text_of(graph);
  }
  return seed % 2 == 1 ? "" : PointCheck(fusion, pointers).violation(seed);
}

TEST(OnnxFusion, KeepsBitsAndPoints) {
  for (std::uint32_t seed = 0; seed < 200; ++seed)
    EXPECT_EQ(wrong_in(test::random_chain(seed), seed), "") << "chain " << seed;
  for (std::uint32_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(wrong_in(test::random_network(seed), seed), "") << "network " << seed;
}

struct KnownWaves {
  const char* file;
  int waves;
};

TEST(OnnxFusion, PublicNetworksHaveTheirWaves) {
  for (const auto& [name, waves] :
       {KnownWaves{"yolox_nano", 24}, KnownWaves{"nanodet_m_0.5x", 24}, KnownWaves{"version-RFB-320", 17},
        KnownWaves{"yunet_n_320_320", 23}, KnownWaves{"deimv2_atto", 39}}) {
    const std::filesystem::path file = test::shared_data() / "networks" / (std::string(name) + ".onnx");
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    OnnxModel model = read_onnx(file, std::uint64_t{1} << 30);
    for (OnnxInput& input : model.graph.inputs)
      std::ranges::replace(input.type.shape, kUnknown, std::int64_t{1});
    EXPECT_EQ(fuse(import_onnx(model, kMemoryOfFusion)).waves, waves) << name;
  }
}

}  // namespace
}  // namespace sightline::nn
