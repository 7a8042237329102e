// A cascade as the kernels take it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/opencl/device_cascade.hpp"
#include "opencl/data.hpp"

namespace sightline::cascade {
namespace {

cl_int bits_of(float value) {
  return std::bit_cast<cl_int>(value);
}

// The children of a node: another node of the cascade, or leaf -1 - child.
struct Children {
  cl_int left, right;
};

std::vector<Children> children_of(const Model& model) {
  std::vector<Children> children(model.nodes.size());
  for (const Tree& tree : model.trees) {
    const auto child = [&](std::int32_t next) {
      return next > 0 ? tree.first_node + next : -1 - (tree.first_leaf - next);
    };
    for (int i = 0; i < tree.nodes; ++i) {
      const Node& node = model.nodes[static_cast<std::size_t>(tree.first_node) + i];
      children[static_cast<std::size_t>(tree.first_node) + i] = {child(node.left), child(node.right)};
    }
  }
  return children;
}

void pack_haar(const PackedCascade& packed, int step, const std::vector<Children>& children,
               DeviceCascade& cascade) {
  const auto first_corner = static_cast<cl_int>(cascade.corners.size() / 2);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const PackedCascade::HaarNode& node = packed.haar[step - 1][i];
    std::vector<cl_int>& n = cascade.nodes;
    n.insert(n.end(), {children[i].left, children[i].right, bits_of(node.threshold)});
    n.insert(n.end(), std::begin(node.corners), std::end(node.corners));
    n.insert(n.end(),
             {node.factor, static_cast<cl_int>(node.form), first_corner + node.first, node.count, 0});
  }
  for (const PackedCascade::Corner& corner : packed.list[step - 1])
    cascade.corners.insert(cascade.corners.end(), {corner.offset, corner.weight});
}

// Rectangle by rectangle, for weights that leave no exact sums.
void pack_rects(const Model& model, const Layout& layout, int step, const std::vector<Children>& children,
                DeviceCascade& cascade) {
  const auto at = [&](int x, int y) { return y * layout.stride + layout.column(step, x); };
  for (std::size_t i = 0; i < children.size(); ++i) {
    const HaarFeature& feature = model.haar[model.nodes[i].feature];
    std::vector<cl_int>& n = cascade.nodes;
    n.insert(n.end(), {children[i].left, children[i].right, bits_of(model.nodes[i].threshold)});
    for (const float weight : feature.weights) n.push_back(bits_of(weight));
    for (const Rect& r : feature.rects) {
      if (feature.tilted) {
        const auto plane = static_cast<cl_int>(Layout::kTilted * layout.plane);
        n.insert(n.end(),
                 {plane + at(r.x, r.y), plane + at(r.x + r.width - r.height, r.y + r.width + r.height),
                  plane + at(r.x - r.height, r.y + r.height), plane + at(r.x + r.width, r.y + r.width)});
      } else {
        n.insert(n.end(), {at(r.x, r.y), at(r.x + r.width, r.y + r.height), at(r.x + r.width, r.y),
                           at(r.x, r.y + r.height)});
      }
    }
    n.insert(n.end(), {0, 0});
  }
}

void pack_lbp(const Model& model, const Layout& layout, int step, const std::vector<Children>& children,
              DeviceCascade& cascade) {
  constexpr int kCorners = 4;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Rect& block = model.lbp[model.nodes[i].feature];
    std::vector<cl_int>& n = cascade.nodes;
    n.insert(n.end(), {children[i].left, children[i].right});
    for (int row = 0; row < kCorners; ++row) {
      for (int column = 0; column < kCorners; ++column) {
        n.push_back((block.y + row * block.height) * layout.stride +
                    layout.column(step, block.x + column * block.width));
      }
    }
    const std::uint32_t* const subset = model.subset(static_cast<std::int32_t>(i));
    for (int word = 0; word < kSubsetWords; ++word) n.push_back(static_cast<cl_int>(subset[word]));
    n.insert(n.end(), {0, 0});
  }
}

// Binary places of a number after the point.
int fraction_bits_of(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const auto whole =
      static_cast<std::int64_t>(std::ldexp(std::frexp(static_cast<double>(value), &exponent), 24));
  return 24 - exponent - std::countr_zero(static_cast<std::uint64_t>(std::abs(whole)));
}

// Doubles add up without rounding, in whatever order, where all of the sums are multiples of one number and
// below 2^53 of these.
void choose_sums(const Model& model, DeviceCascade& cascade) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  int bits = 0;
  for (const float leaf : model.leaves) bits = std::max(bits, fraction_bits_of(leaf));
  double largest = 0;
  for (const BoostingStage& stage : model.stages) {
    double sum = 0;
    for (int t = 0; t < stage.trees; ++t) {
      const Tree& tree = model.trees[static_cast<std::size_t>(stage.first_tree) + t];
      double leaf = 0;
      for (int i = 0; i <= tree.nodes; ++i)
        leaf = std::max(leaf, std::abs(static_cast<double>(model.leaves[tree.first_leaf + i])));
      sum += leaf;
    }
    largest = std::max(largest, sum);
  }
  cascade.fixed_point = std::ldexp(largest, bits) < std::ldexp(1.0, kDigits);
  cascade.fraction_bits = bits;
}

cl_long pack_sum(double value, const DeviceCascade& cascade) {
  if (!cascade.fixed_point) return std::bit_cast<cl_long>(value);
  // Rounded up, which leaves as it is what can be equal to a sum. Beyond all sums, one is as good as another.
  const double largest = std::ldexp(1.0, 62);
  return static_cast<cl_long>(
      std::clamp(std::ceil(std::ldexp(value, cascade.fraction_bits)), -largest, largest));
}

// Mirror PackedNode.
struct PackedHaar {
  cl_ushort corners[8];
  cl_float threshold;
  cl_uchar factor, form;
  cl_short left, right;
  cl_ushort unused;
};
struct PackedLbp {
  cl_uint subset[kSubsetWords];
  cl_uchar x, y, width, height;
  cl_short left, right;
};
static_assert(sizeof(PackedHaar) == 28 && sizeof(PackedLbp) == 40);

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

// A layout in which a corner's distance is y * 256 + x. Needs a window of less than 256 pixels a side.
Layout layout_of_codes(const Model& model) {
  Layout codes;
  codes.stride = 256;
  codes.plane = 256 * 256;
  codes.planes = model.has_tilted ? 3 : 2;
  return codes;
}

// False where the node is none of the small ones.
bool pack_small(const Model& model, const PackedCascade& codes, std::int32_t node,
                std::vector<std::byte>& bytes) {
  constexpr cl_uchar kTilted = 128;
  const Node& n = model.nodes[node];
  const auto left = static_cast<cl_short>(n.left), right = static_cast<cl_short>(n.right);
  if (model.kind == FeatureKind::lbp) {
    const Rect& r = model.lbp[n.feature];
    const auto byte = [](int value) { return static_cast<cl_uchar>(value); };
    PackedLbp packed{{}, byte(r.x), byte(r.y), byte(r.width), byte(r.height), left, right};
    std::copy_n(model.subset(node), kSubsetWords, packed.subset);
    append(bytes, packed);
    return true;
  }
  const PackedCascade::HaarNode& h = codes.haar[0][node];
  if (h.form == PackedCascade::HaarNode::Form::list || h.factor > 255) return false;
  const bool tilted = model.haar[n.feature].tilted;
  PackedHaar packed{{},
                    h.threshold,
                    static_cast<cl_uchar>(h.factor),
                    static_cast<cl_uchar>(static_cast<int>(h.form) | (tilted ? kTilted : 0)),
                    left,
                    right,
                    0};
  for (int c = 0; c < 8; ++c) packed.corners[c] = static_cast<cl_ushort>(h.corners[c] & 0xFFFF);
  append(bytes, packed);
  return true;
}

}  // namespace

PackedStages pack_stages(const Model& model) {
  constexpr std::size_t kRoom = 60 * 1024;  // bytes used of the 64 kB that every device has
  constexpr int kLargest = 65535;
  PackedStages result;
  if (std::max(model.window.width, model.window.height) > 255) return result;
  const Layout layout = layout_of_codes(model);
  const PackedCascade codes =
      model.kind == FeatureKind::haar ? PackedCascade(model, layout) : PackedCascade();
  if (model.kind == FeatureKind::haar && !codes.is_packed()) return result;
  PackedStages more;
  for (const BoostingStage& stage : model.stages) {
    for (int t = 0; t < stage.trees; ++t) {
      const Tree& tree = model.trees[static_cast<std::size_t>(stage.first_tree) + t];
      if (tree.first_node > kLargest || tree.first_leaf > kLargest) return result;
      more.trees.insert(more.trees.end(),
                        {static_cast<cl_ushort>(tree.first_node), static_cast<cl_ushort>(tree.first_leaf)});
      for (int i = 0; i < tree.nodes; ++i) {
        if (!pack_small(model, codes, tree.first_node + i, more.nodes)) return result;
      }
    }
    if (more.nodes.size() + opencl::bytes_of(more.trees) > kRoom) return result;
    ++more.stages;
    result = more;
  }
  return result;
}

double DeviceCascade::sum_of(cl_long bits) const {
  return fixed_point ? std::ldexp(static_cast<double>(bits), -fraction_bits) : std::bit_cast<double>(bits);
}

DeviceCascade pack_cascade(const Model& model, const Layout& layout) {
  DeviceCascade cascade;
  choose_sums(model, cascade);
  for (const Tree& tree : model.trees) cascade.roots.push_back(tree.first_node);
  for (const float leaf : model.leaves)
    cascade.leaves.push_back(pack_sum(static_cast<double>(leaf), cascade));
  for (const BoostingStage& stage : model.stages) {
    const cl_int trees[2] = {stage.first_tree, stage.trees};
    cascade.stages.push_back(std::bit_cast<cl_long>(trees));
    cascade.stages.push_back(pack_sum(static_cast<double>(stage.threshold), cascade));
  }
  const std::vector<Children> children = children_of(model);
  const PackedCascade packed =
      model.kind == FeatureKind::haar ? PackedCascade(model, layout) : PackedCascade();
  cascade.kind = model.kind == FeatureKind::lbp ? DeviceCascade::Kind::lbp
                 : packed.is_packed()           ? DeviceCascade::Kind::haar
                                                : DeviceCascade::Kind::haar_rects;
  for (int step = 1; step <= kSteps; ++step) {
    if (cascade.kind == DeviceCascade::Kind::lbp) {
      pack_lbp(model, layout, step, children, cascade);
    } else if (cascade.kind == DeviceCascade::Kind::haar) {
      pack_haar(packed, step, children, cascade);
    } else {
      pack_rects(model, layout, step, children, cascade);
    }
  }
  return cascade;
}

}  // namespace sightline::cascade
