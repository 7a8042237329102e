// Imported networks on OpenCL devices: they equal the reference to the bit.
#include "base/error.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"
#include "onnx_import/random_chain.hpp"
#include "primitives/device_test.hpp"

namespace sightline::nn {
namespace {

class ImportedOnDevice : public DeviceTest {
 protected:
  // What is wrong with a chain; nothing where the reference fails with such inputs.
  std::string wrong_chain(std::uint32_t seed, int groups) {
    const std::string bytes = test::random_chain(seed).bytes();
    const Graph graph = import_onnx(parse_onnx(bytes, "test.onnx"), std::int64_t{1} << 30);
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    for (const int input : graph.inputs())
      inputs.push_back(
          with_type(graph.type(input).data, [&]<typename T>() { return made<T>(graph.shape(input), seed); }));
    for (const Tensor& one : inputs) pointers.push_back(&one);
    DeviceShape own = shape();
    own.groups = groups;
    try {
      run_reference(graph, pointers);
    } catch (const Error&) {
      return "";
    }
    return wrong_on_device(graph, pointers, own);
  }
};

TEST_F(ImportedOnDevice, ChainsEqualTheReference) {
  for (std::uint32_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(wrong_chain(seed, seed % 2 == 0 ? 2 : 40), "") << "chain " << seed;
  EXPECT_GT(device_parts_, 6);
}

}  // namespace
}  // namespace sightline::nn
