#pragma once
/// Models of ONNX files (https://onnx.ai): nodes with their attributes, before anything is known about
/// operators.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "network/graph.hpp"
#include "network/tensor.hpp"

namespace sightline::nn {

struct OnnxGraph;

using SharedTensor = std::shared_ptr<const Tensor>;
using SharedOnnxGraph = std::shared_ptr<const OnnxGraph>;
/// std::monostate: of a kind that is not supported.
using OnnxAttribute =
    std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>,
                 std::vector<float>, SharedTensor, SharedOnnxGraph>;

/// ONNX's numbers of data types (TensorProto.DataType).
enum OnnxType : std::int64_t {
  kOnnxUnknown = 0,
  kOnnxFloat = 1,
  kOnnxUint8 = 2,
  kOnnxInt8 = 3,
  kOnnxUint16 = 4,
  kOnnxInt16 = 5,
  kOnnxInt32 = 6,
  kOnnxInt64 = 7,
  kOnnxBool = 9,
  kOnnxHalf = 10,
  kOnnxDouble = 11,
  kOnnxUint32 = 12,
};

/// One operation. Inputs and outputs are numbers of values; kNone: left out. A value is made by one node,
/// which stands before all that read it.
struct OnnxNode {
  std::string name;  ///< for people; where the file has none, "#12"
  std::string op;
  std::string domain;  ///< "" for ONNX's own operators
  std::vector<int> inputs, outputs;
  std::map<std::string, OnnxAttribute, std::less<>> attributes;

  /// Values of attributes, or `fallback`; lists, tensors and graphs: empty, or null. They throw Problem where
  /// the type is another one.
  bool has(std::string_view attribute) const { return attributes.find(attribute) != attributes.end(); }
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  float real(std::string_view attribute, float fallback) const;
  std::string text(std::string_view attribute, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view attribute) const;
  std::vector<float> reals(std::string_view attribute) const;
  SharedTensor tensor(std::string_view attribute) const;
  SharedOnnxGraph graph(std::string_view attribute) const;

  /// "'Conv_3' (Conv)".
  std::string title() const { return "'" + name + "' (" + op + ")"; }
};

/// What is wrong with a node whose operator is not supported. @param known  names of all that are
std::string why_unknown(const OnnxNode& node, const std::string& known);

struct OnnxValue {
  std::string name;
  SharedTensor constant;             ///< null for others
  std::int64_t type = kOnnxUnknown;  ///< as the file declares it
};

/// An input of the network. Sides that the user chooses are kUnknown.
struct OnnxInput {
  int value = 0;
  TensorType type;
};

/// Of a branch of a node (If): the first values are the node's inputs, and the node has what the branch reads
/// from outside as inputs behind its own.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;  ///< in an order in which they can run
  std::vector<OnnxValue> values;
  std::vector<OnnxInput> inputs;  ///< of a branch: none
  std::vector<int> outputs;
  std::vector<std::int64_t> columns;  ///< by output: the last side that the file tells, or kUnknown

  const OnnxValue& value(int number) const { return values[static_cast<std::size_t>(number)]; }
};

struct OnnxModel {
  OnnxGraph graph;
  int opset = 0;
  std::string producer;
  std::map<std::string, std::string> metadata;
  std::set<std::filesystem::path> data_files;  ///< that hold weights, beside the network's own file
};

}  // namespace sightline::nn
