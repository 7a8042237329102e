#pragma once
/// Builds small ONNX files.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "network/graph.hpp"
#include "onnx/model.hpp"

namespace sightline::test {

/// An attribute of a node: a number, a text, or whole numbers.
struct OnnxAttribute {
  OnnxAttribute(const std::string& name, const std::vector<std::int64_t>& values);
  template <typename T>
  OnnxAttribute(const std::string& name, const T& value) {
    proto.set_name(name);
    if constexpr (std::is_integral_v<T>) {
      proto.set_type(onnx::AttributeProto::INT);
      proto.set_i(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      proto.set_type(onnx::AttributeProto::FLOAT);
      proto.set_f(value);
    } else {
      proto.set_type(onnx::AttributeProto::STRING);
      proto.set_s(value);
    }
  }
  onnx::AttributeProto proto;
};

/// A network with one picture or tensor as input and any nodes. The functions return the builder or the name
/// of what they add.
class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset = 13);

  /// Sides of -1 are free.
  std::string input(const std::string& name, const std::vector<std::int64_t>& shape,
                    int type = onnx::TensorProto::FLOAT);
  std::string output(const std::string& name, const std::vector<std::int64_t>& shape = {},
                     int type = onnx::TensorProto::FLOAT);
  std::string reals(const std::string& name, const std::vector<std::int64_t>& shape,
                    const std::vector<float>& values);
  /// Values that look like weights: pseudo-random, from -0.5 to 0.5 times `scale`.
  std::string weights(const std::string& name, const std::vector<std::int64_t>& shape, float scale = 1,
                      unsigned seed = 1);
  std::string wholes(const std::string& name, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& values);
  /// Adds a node, named like its first output.
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<OnnxAttribute>& attributes = {});
  /// Adds a node that takes one of two branches.
  void branch(const std::string& condition, const OnnxBuilder& then, const OnnxBuilder& otherwise,
              const std::string& output);
  /// A convolution with a bias, padded to keep the size at stride 1; returns the output's name.
  std::string convolution(const std::string& name, const std::string& input, std::int64_t inputs,
                          std::int64_t outputs, std::int64_t kernel, std::int64_t stride = 1,
                          std::int64_t groups = 1);
  void metadata(const std::string& key, const std::string& value);

  onnx::ModelProto& proto() { return model_; }
  const onnx::ModelProto& proto() const { return model_; }
  std::string bytes() const;
  void save(const std::filesystem::path& file) const;
  /// The same read back.
  nn::OnnxModel model() const;
  /// The same imported. Throws nn::Problem.
  nn::Graph imported(std::int64_t memory_limit = std::int64_t{1} << 30) const;

 private:
  onnx::ModelProto model_;
};

/// A tensor of a file.
nn::Tensor tensor_of(const onnx::TensorProto& proto);

/// A small YOLOX: strides 8, 16 and 32, random weights, `classes` classes.
/// @param in_parts  whether the CPU computes a part between two for devices. The last one reads a tensor
///                  without elements
OnnxBuilder small_yolox(int side, int classes, bool in_parts = false);

}  // namespace sightline::test
