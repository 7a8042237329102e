// The first stages of a cascade as OpenCL C: corners, thresholds and leaves are numbers in the code, so that
// nothing of the cascade has to be loaded and no work-item waits for a node before it knows the next.
#include <algorithm>
#include <bit>
#include <sstream>
#include <string>

#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/opencl/device_cascade.hpp"

namespace sightline::cascade {
namespace {

constexpr int kMostNodes = 4;   // nodes of a tree: all are computed
constexpr int kMostCode = 512;  // nodes in all, so that the code still fits in a device's cache

// Writes the code of one step's nodes.
class Writer {
 public:
  Writer(const Model& model, const DeviceCascade& cascade, int step, std::ostream& text)
      : model_(model), cascade_(cascade), step_(step), text_(text) {
    words_ = static_cast<int>(cascade.nodes.size() / model.nodes.size() / kSteps);
  }

  void stage(int index) {
    const BoostingStage& stage = model_.stages[index];
    text_ << "Sum unrolled_" << step_ << "_" << index
          << "(local const Element* at, Norm norm) {\n  Sum sum = 0;\n";
    for (int t = 0; t < stage.trees; ++t) tree(model_.trees[stage.first_tree + t]);
    text_ << "  return sum;\n}\n";
  }

 private:
  const cl_int* node(int index) const {
    const std::size_t of_step = model_.nodes.size() * static_cast<std::size_t>(step_ - 1);
    return cascade_.nodes.data() + (of_step + index) * words_;
  }

  void tree(const Tree& tree) {
    text_ << "  {\n";
    for (int i = 0; i < tree.nodes; ++i) {
      text_ << "    const bool left_" << i << " = ";
      condition(node(tree.first_node + i));
      text_ << ";\n";
    }
    text_ << "    sum += ";
    child(tree, tree.first_node);
    text_ << ";\n  }\n";
  }

  void child(const Tree& tree, cl_int next) {
    if (next < 0) {
      const cl_long leaf = cascade_.leaves[-1 - next];
      if (cascade_.fixed_point) {
        text_ << leaf << "L";
      } else {
        text_ << "as_double(" << static_cast<cl_ulong>(leaf) << "UL)";
      }
      return;
    }
    text_ << "(left_" << next - tree.first_node << " ? ";
    child(tree, node(next)[0]);
    text_ << " : ";
    child(tree, node(next)[1]);
    text_ << ")";
  }

  // Same as goes_left of kernels/cascade/nodes.clh.
  void condition(const cl_int* n) {
    enum { kThreshold = 2, kCorners = 3, kFactor = 11, kForm = 12, kFirst = 13, kCount = 14 };
    const auto at = [&](int corner) { return "at[" + std::to_string(n[kCorners + corner]) + "]"; };
    text_ << "convert_float((int)(";
    if (n[kForm] == static_cast<cl_int>(PackedCascade::HaarNode::Form::list)) {
      text_ << "0u";  // corners may all cancel out
      for (int i = n[kFirst]; i < n[kFirst] + n[kCount]; ++i) {
        text_ << " + " << static_cast<cl_uint>(cascade_.corners[2 * i + 1]) << "u * at["
              << cascade_.corners[2 * i] << "]";
      }
    } else {
      text_ << at(0) << " - " << at(2) << " + " << at(1) << " - " << at(3) << " + " << n[kFactor] << "u * ("
            << at(4) << " - " << at(5);
      if (n[kForm] == static_cast<cl_int>(PackedCascade::HaarNode::Form::eight))
        text_ << " + " << at(6) << " - " << at(7);
      text_ << ")";
    }
    text_ << ")) * norm < as_float(" << std::bit_cast<cl_uint>(n[kThreshold]) << "u)";
  }

  const Model& model_;
  const DeviceCascade& cascade_;
  int step_;
  std::ostream& text_;
  int words_ = 0;  // words of a node
};

// The stage's nodes; more than may be written where a tree is too large.
int capped_nodes_of(const Model& model, const BoostingStage& stage) {
  int nodes = 0;
  for (int t = 0; t < stage.trees; ++t) {
    const int of_tree = model.trees[stage.first_tree + t].nodes;
    nodes += of_tree > kMostNodes ? kMostCode + 1 : of_tree;
  }
  return nodes;
}

}  // namespace

UnrolledStages unroll_stages(const Model& model, const Layout& layout, int most) {
  UnrolledStages result;
  const DeviceCascade cascade = pack_cascade(model, layout);
  if (cascade.kind != DeviceCascade::Kind::haar) return result;
  const int all = std::min(most, static_cast<int>(model.stages.size()));
  for (int nodes = 0; result.stages < all; ++result.stages) {
    nodes += capped_nodes_of(model, model.stages[result.stages]);
    if (nodes > kMostCode) break;
  }
  if (result.stages == 0) return result;
  std::ostringstream text;
  for (int step = 1; step <= kSteps; ++step) {
    Writer writer(model, cascade, step, text);
    for (int s = 0; s < result.stages; ++s) writer.stage(s);
  }
  text << "Sum unrolled_sum(int step, int s, local const Element* at, Norm norm) {\n";
  for (int step = 1; step <= kSteps; ++step) {
    text << "  if (step == " << step << ") {\n    switch (s) {\n";
    for (int s = 0; s < result.stages; ++s)
      text << "      case " << s << ": return unrolled_" << step << "_" << s << "(at, norm);\n";
    text << "    }\n  }\n";
  }
  text << "  return 0;\n}\n";
  result.source = text.str();
  return result;
}

}  // namespace sightline::cascade
