// Windows of a row in SIMD lanes. The first stages run on blocks of neighbouring windows, whose corners are
// neighbours in memory, with a set of the windows that are still in the running; where few are left, these go
// on one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/cascade/scan_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/scan_scalar.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::cascade::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class M>
HWY_INLINE std::uint64_t bits_of(D d, M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);  // little-endian, like all of Highway's targets
  return bits;
}

// Result of a stage for a block: windows that certainly pass, and windows that need an exact sum.
struct StageBits {
  std::uint64_t pass = 0;
  std::uint64_t unsure = 0;
};

// A tree's value in every lane. `Block` has Value, `leaf(i)` and `choose(node, left, right)`.
template <class Block>
HWY_INLINE typename Block::Value tree_value(const Block& block, const Model& model, const Tree& tree) {
  const Node* const nodes = model.nodes.data() + tree.first_node;
  const auto leaf = [&](std::int32_t i) HWY_ATTR { return block.leaf(tree.first_leaf - i); };
  if (tree.nodes == 1) return block.choose(tree.first_node, leaf(nodes[0].left), leaf(nodes[0].right));
  if (tree.nodes == 2) {
    const auto last = block.choose(tree.first_node + 1, leaf(nodes[1].left), leaf(nodes[1].right));
    const auto branch = [&](std::int32_t next) HWY_ATTR { return next > 0 ? last : leaf(next); };
    return block.choose(tree.first_node, branch(nodes[0].left), branch(nodes[0].right));
  }
  // Children come after their parents.
  typename Block::Value values[kMaxNodes];
  for (int i = tree.nodes - 1; i >= 0; --i) {
    const auto branch = [&](std::int32_t next) HWY_ATTR { return next > 0 ? values[next] : leaf(next); };
    values[i] = block.choose(tree.first_node + i, branch(nodes[i].left), branch(nodes[i].right));
  }
  return values[0];
}

// Two vectors of windows of a Haar cascade: the second hides the first's latencies.
class HaarBlock {
 public:
  using DF = hn::ScalableTag<float>;
  using DI = hn::RebindToSigned<DF>;
  using VF = hn::Vec<DF>;
  using VI = hn::Vec<DI>;
  struct Value {
    VF low, high;
  };
  using Scalar = HaarScalar;

  static HWY_INLINE int windows() { return 2 * static_cast<int>(hn::Lanes(DF())); }

  HWY_INLINE HaarBlock(const PackedCascade& cascade, int step, const std::byte* integrals,
                       std::ptrdiff_t corner)
      : cascade_(cascade), step_(step - 1), sums_(reinterpret_cast<const std::int32_t*>(integrals) + corner) {
    const int lanes = static_cast<int>(hn::Lanes(DF()));
    norm_.low = norm(sums_, usable_);
    std::uint64_t upper = 0;
    norm_.high = norm(sums_ + lanes, upper);
    usable_ |= upper << lanes;
  }

  // Windows that are not flat.
  HWY_INLINE std::uint64_t usable() const { return usable_; }

  HWY_INLINE Value leaf(std::int32_t i) const {
    const VF value = hn::Set(DF(), cascade_.model().leaves[i]);
    return {value, value};
  }

  HWY_INLINE Value choose(std::int32_t node, const Value& left, const Value& right) const {
    const PackedCascade::HaarNode& n = cascade_.haar[step_][node];
    const DF df;
    const DI di;
    const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(df));
    const auto load = [&](const std::int32_t* p, int c) HWY_ATTR { return hn::LoadU(di, p + n.corners[c]); };
    const auto plain = [&](const std::int32_t* p) HWY_ATTR {
      return hn::Sub(hn::Add(load(p, 0), load(p, 1)), hn::Add(load(p, 2), load(p, 3)));
    };
    VI low, high;
    const std::int32_t* const q = sums_ + lanes;
    if (n.form == PackedCascade::HaarNode::Form::six) {
      const VI factor = hn::Set(di, n.factor);
      low = hn::Add(plain(sums_), hn::Mul(factor, hn::Sub(load(sums_, 4), load(sums_, 5))));
      high = hn::Add(plain(q), hn::Mul(factor, hn::Sub(load(q, 4), load(q, 5))));
    } else if (n.form == PackedCascade::HaarNode::Form::eight) {
      const VI factor = hn::Set(di, n.factor);
      const auto other = [&](const std::int32_t* p) HWY_ATTR {
        return hn::Sub(hn::Add(load(p, 4), load(p, 6)), hn::Add(load(p, 5), load(p, 7)));
      };
      low = hn::Add(plain(sums_), hn::Mul(factor, other(sums_)));
      high = hn::Add(plain(q), hn::Mul(factor, other(q)));
    } else {
      low = high = hn::Zero(di);
      const PackedCascade::Corner* corner = cascade_.list[step_].data() + n.first;
      for (int i = 0; i < n.count; ++i, ++corner) {
        const VI weight = hn::Set(di, corner->weight);
        low = hn::Add(low, hn::Mul(weight, hn::LoadU(di, sums_ + corner->offset)));
        high = hn::Add(high, hn::Mul(weight, hn::LoadU(di, q + corner->offset)));
      }
    }
    const VF threshold = hn::Set(df, n.threshold);
    const auto value = [&](VI sum, VF norm, VF l, VF r) HWY_ATTR {
      return hn::IfThenElse(hn::Lt(hn::Mul(hn::ConvertTo(df, sum), norm), threshold), l, r);
    };
    return {value(low, norm_.low, left.low, right.low), value(high, norm_.high, left.high, right.high)};
  }

  HWY_INLINE StageBits stage(int s) const {
    const DF df;
    const BoostingStage& stage = cascade_.model().stages[s];
    const Tree* tree = cascade_.model().trees.data() + stage.first_tree;
    VF low = hn::Zero(df), high = hn::Zero(df);
    for (int t = 0; t < stage.trees; ++t, ++tree) {
      const Value value = tree_value(*this, cascade_.model(), *tree);
      low = hn::Add(low, value.low);
      high = hn::Add(high, value.high);
    }
    const PackedCascade::Bounds& bounds = cascade_.bounds[s];
    const auto at_least = [&](float bound) HWY_ATTR {
      return bits_of(df, hn::Ge(low, hn::Set(df, bound))) | bits_of(df, hn::Ge(high, hn::Set(df, bound)))
                                                                << hn::Lanes(df);
    };
    const std::uint64_t pass = at_least(bounds.pass);
    return {pass, at_least(bounds.reject) & ~pass};
  }

  Scalar scalar(int window) const {
    const std::byte* const integrals = reinterpret_cast<const std::byte*>(sums_);
    return Scalar(cascade_, step_ + 1, integrals, window);
  }

 private:
  using DD = hn::Repartition<double, DF>;
  using DH = hn::Half<DI>;

  HWY_INLINE VI inside(const std::int32_t* p) const {
    const DI di;
    const std::int32_t* const o = cascade_.inside[step_];
    return hn::Sub(hn::Add(hn::LoadU(di, p + o[0]), hn::LoadU(di, p + o[3])),
                   hn::Add(hn::LoadU(di, p + o[1]), hn::LoadU(di, p + o[2])));
  }

  // The norms of half a vector of windows, in double.
  HWY_INLINE hn::Vec<hn::Rebind<float, DD>> norm_half(hn::Vec<DH> sum, hn::Vec<DH> squares,
                                                      std::uint64_t& usable) const {
    const DD dd;
    const hn::Rebind<float, DD> dh;
    const Size window = cascade_.model().window;
    const auto area = hn::Set(dd, static_cast<double>((window.width - 2) * (window.height - 2)));
    const auto s = hn::PromoteTo(dd, sum);
    // Unsigned: the caller has taken 2^31 off.
    const auto q = hn::Add(hn::PromoteTo(dd, squares), hn::Set(dd, 2147483648.0));
    const auto variance = hn::Sub(hn::Mul(area, q), hn::Mul(s, s));
    const auto norm = hn::DemoteTo(dh, hn::Div(hn::Set(dd, 1.0), hn::Sqrt(variance)));
    const auto is_large = hn::Lt(hn::Mul(area, hn::PromoteTo(dd, norm)), hn::Set(dd, 1e-1));
    usable = bits_of(dd, hn::And(hn::Gt(variance, hn::Zero(dd)), is_large));
    return norm;
  }

  HWY_INLINE VF norm(const std::int32_t* p, std::uint64_t& usable) const {
    const DI di;
    const DH dh;
    const hn::Rebind<float, DD> dhf;
    static_cast<void>(dhf);
    const VI sum = inside(p);
    const VI squares = hn::Xor(inside(p + cascade_.layout().plane * Layout::kSquares),
                               hn::Set(di, std::numeric_limits<std::int32_t>::min()));
    std::uint64_t low_bits = 0, high_bits = 0;
    const auto low = norm_half(hn::LowerHalf(dh, sum), hn::LowerHalf(dh, squares), low_bits);
    const auto high = norm_half(hn::UpperHalf(dh, sum), hn::UpperHalf(dh, squares), high_bits);
    usable = low_bits | high_bits << hn::Lanes(dh);
    return hn::Combine(DF(), high, low);
  }

  const PackedCascade& cascade_;
  int step_;
  const std::int32_t* sums_;
  Value norm_;
  std::uint64_t usable_ = 0;
};

// A vector of windows of an LBP cascade, 16 bits each. Sums have two halves, see PackedCascade::LbpLeaf.
class LbpBlock {
 public:
  using D = hn::ScalableTag<std::uint16_t>;
  using DI = hn::RebindToSigned<D>;
  using V = hn::Vec<D>;
  using VI = hn::Vec<DI>;
  struct Value {
    VI high, low;
  };
  using Scalar = LbpScalar;

  static HWY_INLINE int windows() { return static_cast<int>(hn::Lanes(D())); }

  HWY_INLINE LbpBlock(const PackedCascade& cascade, int step, const std::byte* integrals,
                      std::ptrdiff_t corner)
      : cascade_(cascade),
        step_(step - 1),
        sums_(reinterpret_cast<const std::uint16_t*>(integrals) + corner) {}

  HWY_INLINE std::uint64_t usable() const { return ~std::uint64_t{0}; }

  HWY_INLINE Value leaf(std::int32_t i) const {
    const PackedCascade::LbpLeaf& leaf = cascade_.lbp_leaves[i];
    return {hn::Set(DI(), leaf.high), hn::Set(DI(), leaf.low)};
  }

  HWY_INLINE Value choose(std::int32_t node, const Value& left, const Value& right) const {
    const D d;
    const hn::Repartition<std::uint8_t, D> d8;
    const PackedCascade::LbpNode& n = cascade_.lbp[step_][node];
    // Differences along rows, then between rows: the nine blocks. 2^15 goes into every other corner of every
    // other row and so, up or down, once into every block: comparisons are then of signed numbers.
    const V bias = hn::Set(d, 0x8000);
    V upper[3], blocks[3][3];
    for (int row = 0; row < 4; ++row) {
      V corners[4];
      for (int c = 0; c < 4; ++c) {
        corners[c] = hn::LoadU(d, sums_ + n.corners[4 * row + c]);
        if (row % 2 == 1 && c % 2 == 1) corners[c] = hn::Xor(corners[c], bias);
      }
      for (int c = 0; c < 3; ++c) {
        const V across = hn::Sub(corners[c + 1], corners[c]);
        if (row > 0) blocks[row - 1][c] = hn::Sub(across, upper[c]);
        upper[c] = across;
      }
    }
    const DI di;
    const VI middle = hn::BitCast(di, blocks[1][1]);
    const auto is_darker = [&](V block) HWY_ATTR { return hn::Lt(hn::BitCast(di, block), middle); };
    const auto bit = [&](V block, std::int16_t value) HWY_ATTR {
      return hn::BitCast(d, hn::IfThenElseZero(is_darker(block), hn::Set(di, value)));
    };
    // The first of the darker-block bits chooses a half of the set, the next four a byte of it, the last
    // three a bit.
    const V byte_index = hn::Or(hn::Or(bit(blocks[0][1], 8), bit(blocks[0][2], 4)),
                                hn::Or(bit(blocks[1][2], 2), bit(blocks[2][2], 1)));
    const V bit_index = hn::Or(hn::Or(bit(blocks[2][1], 4), bit(blocks[2][0], 2)), bit(blocks[1][0], 1));
    const auto look_up = [&](const std::uint8_t* table, V index) HWY_ATTR {
      return hn::BitCast(d, hn::TableLookupBytes(hn::LoadDup128(d8, table), hn::BitCast(d8, index)));
    };
    alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                           1, 2, 4, 8, 16, 32, 64, 128};
    const V bytes = hn::IfThenElse(hn::RebindMask(d, is_darker(blocks[0][0])),
                                   look_up(n.set + 16, byte_index), look_up(n.set, byte_index));
    // The upper byte of a lane has looked up entry 0.
    const V wanted = hn::And(look_up(kBits, bit_index), hn::Set(d, 0xFF));
    const auto is_out = hn::RebindMask(di, hn::Eq(hn::And(bytes, wanted), hn::Zero(d)));
    return {hn::IfThenElse(is_out, right.high, left.high), hn::IfThenElse(is_out, right.low, left.low)};
  }

  HWY_INLINE StageBits stage(int s) const {
    const DI di;
    const BoostingStage& stage = cascade_.model().stages[s];
    const Tree* tree = cascade_.model().trees.data() + stage.first_tree;
    VI high = hn::Zero(di), low = hn::Zero(di);
    for (int t = 0; t < stage.trees; ++t, ++tree) {
      const Value value = tree_value(*this, cascade_.model(), *tree);
      high = hn::Add(high, value.high);
      low = hn::Add(low, value.low);
    }
    const PackedCascade::LbpBounds& bounds = cascade_.lbp_bounds[s];
    high = hn::Add(high, hn::ShiftRightSame(low, bounds.low_bits));
    low = hn::And(low, hn::Set(di, static_cast<std::int16_t>((1 << bounds.low_bits) - 1)));
    const auto at_least = [&](const PackedCascade::LbpLeaf& bound) HWY_ATTR {
      const VI b = hn::Set(di, bound.high);
      const auto equal =
          hn::And(hn::Eq(high, b), hn::Gt(low, hn::Set(di, static_cast<std::int16_t>(bound.low - 1))));
      return bits_of(di, hn::Or(hn::Gt(high, b), equal));
    };
    const std::uint64_t pass = at_least(bounds.pass);
    return {pass, at_least(bounds.reject) & ~pass};
  }

  Scalar scalar(int window) const {
    return Scalar(cascade_, step_ + 1, reinterpret_cast<const std::byte*>(sums_), window);
  }

 private:
  const PackedCascade& cascade_;
  int step_;
  const std::uint16_t* sums_;
};

// Calls `work` with the number of every set bit, from the lowest.
template <class Work>
HWY_INLINE void for_each_bit(std::uint64_t bits, const Work& work) {
  for (; bits != 0; bits &= bits - 1) work(std::countr_zero(bits));
}

// The windows of `among` that pass a stage.
template <class Block>
HWY_INLINE std::uint64_t run_stage(const Block& block, int stage, std::uint64_t among) {
  const StageBits bits = block.stage(stage);
  std::uint64_t pass = bits.pass & among;
  for_each_bit(bits.unsure & among, [&](int i) {
    if (block.scalar(i).passes(stage)) pass |= std::uint64_t{1} << i;
  });
  return pass;
}

// So few windows are faster one by one.
constexpr int kFewWindows = 1;

template <class Block>
HWY_INLINE void scan(const PackedCascade& cascade, int level_index, const std::byte* integrals, int row,
                     int stages, std::vector<Survivor>& survivors) {
  const Layout& layout = cascade.layout();
  const Level& level = layout.levels[level_index];
  const int y = row * level.step;
  const std::ptrdiff_t first = level.origin + static_cast<std::ptrdiff_t>(y) * layout.stride;
  const int lanes = Block::windows();
  bool skip_next = false;
  for (int i = 0; i < level.windows.width; i += lanes) {
    const Block block(cascade, level.step, integrals, first + i);
    const int count = std::min(lanes, level.windows.width - i);
    const std::uint64_t there = ~std::uint64_t{0} >> (64 - count);
    const std::uint64_t usable = block.usable() & there;
    const std::uint64_t pass = usable == 0 ? 0 : run_stage(block, 0, usable);
    const std::uint64_t skipped = skipped_windows(usable & ~pass, count, skip_next);
    std::uint64_t active = pass & ~skipped;
    int s = 1;
    for (; s < stages && std::popcount(active) > kFewWindows; ++s) active = run_stage(block, s, active);
    for_each_bit(active, [&](int lane) {
      if (s < stages && !block.scalar(lane).passes_all(s, stages)) return;
      survivors.push_back({level_index, (i + lane) * level.step, y});
    });
  }
}

void scan_haar(const PackedCascade& cascade, int level, const std::byte* integrals, int row, int stages,
               std::vector<Survivor>& survivors) {
  scan<HaarBlock>(cascade, level, integrals, row, stages, survivors);
}

void scan_lbp(const PackedCascade& cascade, int level, const std::byte* integrals, int row, int stages,
              std::vector<Survivor>& survivors) {
  scan<LbpBlock>(cascade, level, integrals, row, stages, survivors);
}

}  // namespace sightline::cascade::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::cascade {
HWY_EXPORT(scan_haar);
HWY_EXPORT(scan_lbp);

void scan_row(const PackedCascade& cascade, int level, const std::byte* integrals, int row, int stages,
              std::vector<Survivor>& survivors) {
  if (!cascade.is_packed()) {
    reference::scan_row(cascade.model(), cascade.layout(), level, integrals, row, stages, survivors);
  } else if (cascade.model().kind == FeatureKind::haar) {
    HWY_DYNAMIC_DISPATCH(scan_haar)(cascade, level, integrals, row, stages, survivors);
  } else {
    HWY_DYNAMIC_DISPATCH(scan_lbp)(cascade, level, integrals, row, stages, survivors);
  }
}

}  // namespace sightline::cascade
#endif  // HWY_ONCE
