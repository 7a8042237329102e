#include "network/cpu/map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {
namespace {

// Values of a slot, which each step reads or writes in one pass. Several such slots fit into the first cache.
// With 256 values, passes took up to 1.8 times as long: they read what the last pass was still writing.
constexpr std::size_t kTile = 1024;
constexpr std::size_t kBlockBytes = kMapBlock * sizeof(float);
constexpr std::size_t kSlotBytes = kTile * sizeof(float);

// Memories of a program; behind them, its results and then its operands.
constexpr std::uint16_t kConstants = 0, kScratch = 1, kFirstResult = 2;

// An expression that is one operation. The operation's arguments are the expression's operands.
struct MapForm {
  MapOperation operation;
  Expression expression;
};

template <typename Build>
MapForm form_of(MapOperation operation, std::size_t operands, const Build& build) {
  Expression expression(std::vector<DataType>(operands, DataType::f32));
  for (std::size_t i = 0; i < operands; ++i) expression.operand(i);
  expression.add_result(build(expression));
  return {operation, std::move(expression)};
}

std::vector<MapForm> forms() {
  using enum Function;
  using E = Expression;
  const auto six = [](E& e) {  // clip(x + 3, 0, 6)
    return e.call(clip, {e.call(add, {0, e.constant(3.0F)}), e.constant(0.0F), e.constant(6.0F)});
  };
  return {
      form_of(MapOperation::hard_swish_divided, 1,
              [&](E& e) {
                return e.call(divide, {e.call(multiply, {0, six(e)}), e.constant(6.0F)});
              }),
      form_of(MapOperation::hard_swish_inner, 1,
              [&](E& e) {
                return e.call(multiply, {0, e.call(divide, {six(e), e.constant(6.0F)})});
              }),
      form_of(MapOperation::hard_swish_scaled, 1,
              [&](E& e) {
                return e.call(multiply, {0, e.call(multiply, {six(e), e.constant(1.0F / 6)})});
              }),
      form_of(MapOperation::silu, 1,
              [](E& e) {
                return e.call(multiply, {0, e.call(sigmoid, {0})});
              }),
      form_of(MapOperation::add_relu, 2,
              [](E& e) {
                return e.call(relu, {e.call(add, {0, 1})});
              }),
      form_of(MapOperation::multiply_sum, 3,
              [](E& e) {
                return e.call(add, {e.call(multiply, {0, 1}), 2});
              }),
      form_of(MapOperation::subtract_multiply, 3,
              [](E& e) {
                return e.call(multiply, {e.call(subtract, {0, 1}), 2});
              }),
      form_of(MapOperation::square, 1,
              [](E& e) {
                return e.call(power, {0, e.constant(2.0F)});
              }),
      form_of(MapOperation::cube, 1,
              [](E& e) {
                return e.call(power, {0, e.constant(3.0F)});
              }),
      form_of(MapOperation::square_root, 1,
              [](E& e) {
                return e.call(power, {0, e.constant(0.5F)});
              }),
  };
}

// An operation on nodes and constants.
struct MapCall {
  MapOperation operation = MapOperation::copy;
  std::size_t count = 0;
  std::array<int, 3> nodes{-1, -1, -1};
  std::array<float, 3> constants{};  // where the node is -1
};

bool is_commutative(Function function) {
  return function == Function::add || function == Function::multiply;
}

// Finds forms in an expression.
class FormMatcher {
 public:
  FormMatcher(const Expression& expression, const std::vector<int>& uses)
      : expression_(expression), uses_(uses) {}

  std::optional<MapCall> find(int node) {
    static const std::vector<MapForm> kForms = forms();
    for (const MapForm& form : kForms) {
      call_ = {form.operation, form.expression.operands().size(), {-1, -1, -1}, {}};
      const int root = form.expression.results()[0];
      if (matches(form.expression, root, node, true)) return call_;
    }
    return std::nullopt;
  }

 private:
  using Node = Expression::Node;

  bool matches(const Expression& form, int wanted, int node, bool is_root) {
    const Node& pattern = form.nodes()[static_cast<std::size_t>(wanted)];
    const Node& found = expression_.nodes()[static_cast<std::size_t>(node)];
    if (pattern.function == Function::operand) return bind(pattern.arguments[0], node);
    if (found.function != pattern.function || found.type != pattern.type) return false;
    if (pattern.function == Function::constant) return found.constant == pattern.constant;
    // A node that other nodes read, too, needs a step of its own.
    if (!is_root && uses_[static_cast<std::size_t>(node)] > 1) return false;
    const std::array<int, 3> bound = call_.nodes;
    if (matches_arguments(form, pattern, found.arguments)) return true;
    call_.nodes = bound;
    return is_commutative(pattern.function) &&
           matches_arguments(form, pattern, {found.arguments[1], found.arguments[0], 0});
  }
  bool matches_arguments(const Expression& form, const Node& pattern, const std::array<int, 3>& arguments) {
    for (std::size_t i = 0; i < arguments_of(pattern.function); ++i) {
      if (!matches(form, pattern.arguments[i], arguments[i], false)) return false;
    }
    return true;
  }
  bool bind(int argument, int node) {
    int& bound = call_.nodes[static_cast<std::size_t>(argument)];
    if (bound >= 0) return bound == node;
    bound = node;
    return true;
  }

  const Expression& expression_;
  const std::vector<int>& uses_;
  MapCall call_;
};

// x / divisor as a product, where it has the same bits: the inverses of powers of two are exact.
std::optional<MapCall> call_of_division(int x, float divisor) {
  int exponent = 0;
  const float inverse = 1 / divisor;
  if (std::fabs(std::frexp(divisor, &exponent)) != 0.5F || !std::isfinite(inverse)) return std::nullopt;
  return MapCall{MapOperation::multiply, 2, {x, -1, -1}, {0, inverse, 0}};
}

MapOperation operation_of(Function function, DataType argument) {
  const bool is_boolean = argument == DataType::boolean;
  switch (function) {
    case Function::select:
      return is_boolean ? MapOperation::select_mask : MapOperation::select_real;
    case Function::cast:
      return is_boolean ? MapOperation::to_real : MapOperation::to_boolean;
    case Function::equal:
      return is_boolean ? MapOperation::equal_masks : MapOperation::equal;
    case Function::less:
      return is_boolean ? MapOperation::less_masks : MapOperation::less;
    case Function::less_or_equal:
      return is_boolean ? MapOperation::less_or_equal_masks : MapOperation::less_or_equal;
    default:
      // Functions follow operand, constant, cast and select in the same order.
      return static_cast<MapOperation>(static_cast<int>(function) - static_cast<int>(Function::add));
  }
}

}  // namespace

// Writes a kernel's program.
class MapCompiler {
 public:
  explicit MapCompiler(MapKernel& kernel) : kernel_(kernel), expression_(kernel.expression_) {}

  // Whether all nodes are of f32 and booleans; nothing is written otherwise.
  bool compile() {
    const std::size_t count = expression_.nodes().size();
    uses_.assign(count, 0);
    calls_.assign(count, {});
    last_use_.assign(count, 0);
    values_.assign(count, {});
    if (!count_uses()) return false;
    choose_calls();
    for (std::size_t n = 0; n < count; ++n) {
      if (last_use_[n] > 0) write(static_cast<int>(n));
    }
    finish_results();
    kernel_.constants_.resize(constants_.size() * kBlockBytes);
    for (std::size_t i = 0; i < constants_.size(); ++i)
      std::fill_n(reinterpret_cast<float*>(kernel_.constants_.data() + i * kBlockBytes), kMapBlock,
                  constants_[i]);
    place_slots();
    return true;
  }

 private:
  using Node = Expression::Node;

  const Node& node(int n) const { return expression_.nodes()[static_cast<std::size_t>(n)]; }
  MapValue& value(int n) { return values_[static_cast<std::size_t>(n)]; }

  bool count_uses() {
    for (const int result : expression_.results()) ++uses_[static_cast<std::size_t>(result)];
    for (std::size_t n = uses_.size(); n-- > 0;) {
      if (uses_[n] == 0) continue;
      const Node& one = expression_.nodes()[n];
      if (one.type != DataType::f32 && one.type != DataType::boolean) return false;
      for (std::size_t i = 0; i < arguments_of(one.function); ++i)
        ++uses_[static_cast<std::size_t>(one.arguments[i])];
    }
    return true;
  }

  // Calls of all nodes that are read, and the last node (or, by its number and more, result) that reads each.
  void choose_calls() {
    const std::size_t count = calls_.size();
    for (const int result : expression_.results()) last_use_[static_cast<std::size_t>(result)] = count;
    FormMatcher matcher(expression_, uses_);
    for (std::size_t n = count; n-- > 0;) {
      if (last_use_[n] == 0) continue;
      calls_[n] = call_of(matcher, static_cast<int>(n));
      for (std::size_t i = 0; i < calls_[n].count; ++i) {
        const int read = calls_[n].nodes[i];
        if (read >= 0)
          last_use_[static_cast<std::size_t>(read)] = std::max(last_use_[static_cast<std::size_t>(read)], n);
      }
    }
  }

  MapCall call_of(FormMatcher& matcher, int n) const {
    const Node& one = node(n);
    if (one.function == Function::operand || one.function == Function::constant) return {};
    if (const std::optional<MapCall> form = matcher.find(n)) return *form;
    if (one.function == Function::divide && node(one.arguments[1]).function == Function::constant) {
      const float divisor = node(one.arguments[1]).constant.as<float>();
      if (const std::optional<MapCall> call = call_of_division(one.arguments[0], divisor)) return *call;
    }
    const int typed = one.arguments[one.function == Function::select ? 1 : 0];
    return {operation_of(one.function, node(typed).type), arguments_of(one.function), one.arguments, {}};
  }

  void write(int n) {
    const Node& one = node(n);
    if (one.function == Function::constant) {
      value(n) = one.type == DataType::boolean
                     ? constant(std::bit_cast<float>(one.constant.as<bool>() ? ~0U : 0U))
                     : constant(one.constant.as<float>());
    } else if (one.function == Function::operand) {
      value(n) = load(static_cast<std::size_t>(one.arguments[0]), one.type);
    } else {
      write_call(n);
    }
  }

  MapValue load(std::size_t operand, DataType type) {
    const MapAccess access = kernel_.accesses_[operand];
    const bool is_boolean = type == DataType::boolean, is_row = access == MapAccess::row;
    const std::size_t bytes = is_row ? bytes_of(type) : 0;
    const MapValue from = value_in(kFirstResult + expression_.results().size() + operand, bytes, 0, bytes);
    if (!is_boolean && access != MapAccess::single) return from;
    MapStep step{is_boolean ? MapOperation::load_boolean : MapOperation::spread, {from}, {}};
    if (is_boolean && access == MapAccess::single) step.operation = MapOperation::spread_boolean;
    return push(step, !is_row);
  }

  // @param bytes  of a value by which blocks are apart; 0: the block repeats
  static MapValue value_in(std::size_t memory, std::size_t row_bytes, std::size_t offset, std::size_t bytes) {
    return {static_cast<std::uint16_t>(memory), static_cast<std::uint16_t>(row_bytes),
            static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes * kMapBlock)};
  }
  static MapValue result_value(std::size_t result, DataType type) {
    return value_in(kFirstResult + result, bytes_of(type), 0, bytes_of(type));
  }
  static bool repeats(const MapValue& one) { return one.step == 0; }
  static bool is_slot(const MapValue& one) { return one.memory == kScratch && !repeats(one); }

  void write_call(int n) {
    const MapCall& call = calls_[static_cast<std::size_t>(n)];
    MapStep step{call.operation, {}, {}};
    bool is_repeated = true;
    for (std::size_t i = 0; i < call.count; ++i) {
      step.arguments[i] = call.nodes[i] >= 0 ? value(call.nodes[i]) : constant(call.constants[i]);
      is_repeated = is_repeated && repeats(step.arguments[i]);
    }
    // The result may overwrite an argument that no later node reads.
    free_arguments(n);
    const auto result = std::ranges::find(expression_.results(), n);
    if (!is_repeated && node(n).type == DataType::f32 && result != expression_.results().end()) {
      step.result =
          result_value(static_cast<std::size_t>(result - expression_.results().begin()), DataType::f32);
      kernel_.steps_.push_back(step);
      value(n) = step.result;
    } else {
      value(n) = push(step, is_repeated);
    }
  }

  // Copies results that are not where they belong.
  void finish_results() {
    for (std::size_t r = 0; r < expression_.results().size(); ++r) {
      const int n = expression_.results()[r];
      if (value(n).memory == kFirstResult + r) continue;
      const MapOperation operation =
          node(n).type == DataType::boolean ? MapOperation::store_boolean : MapOperation::copy;
      kernel_.steps_.push_back({operation, {value(n)}, result_value(r, node(n).type)});
    }
  }

  MapValue constant(float number) {
    const auto has_bits = [&](float other) {
      return std::bit_cast<std::uint32_t>(other) == std::bit_cast<std::uint32_t>(number);
    };
    const auto found = std::ranges::find_if(constants_, has_bits);
    const auto index = static_cast<std::size_t>(found - constants_.begin());
    if (found == constants_.end()) constants_.push_back(number);
    return value_in(kConstants, 0, index * kBlockBytes, 0);
  }

  // Adds a step whose result is scratch.
  MapValue push(MapStep step, bool is_repeated) {
    step.result = is_repeated ? value_in(kScratch, 0, kernel_.patterns_++ * kBlockBytes, 0)
                              : value_in(kScratch, 0, take_slot() * kSlotBytes, sizeof(float));
    (is_repeated ? kernel_.once_ : kernel_.steps_).push_back(step);
    return step.result;
  }

  std::size_t take_slot() {
    if (free_slots_.empty()) return kernel_.slots_++;
    const std::size_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  void free_arguments(int n) {
    std::array<int, 3> nodes = calls_[static_cast<std::size_t>(n)].nodes;
    std::ranges::sort(nodes);
    const auto end = std::ranges::unique(nodes).begin();
    for (auto one = nodes.begin(); one != end; ++one) {
      if (*one < 0 || last_use_[static_cast<std::size_t>(*one)] != static_cast<std::size_t>(n)) continue;
      const MapValue& read = value(*one);
      if (is_slot(read)) free_slots_.push_back(read.offset / kSlotBytes);
    }
  }

  // Slots lie behind the values that repeat.
  void place_slots() {
    const auto place = [&](MapValue& one) {
      if (is_slot(one)) one.offset += static_cast<std::uint32_t>(kernel_.patterns_ * kBlockBytes);
    };
    for (MapStep& step : kernel_.steps_) {
      for (MapValue& argument : step.arguments) place(argument);
      place(step.result);
    }
  }

  MapKernel& kernel_;
  const Expression& expression_;
  std::vector<int> uses_;
  std::vector<MapCall> calls_;
  std::vector<std::size_t> last_use_;  // 0: nobody reads the node
  std::vector<MapValue> values_;
  std::vector<float> constants_;
  std::vector<std::size_t> free_slots_;
};

MapKernel::MapKernel(Expression expression, std::vector<MapAccess> accesses)
    : expression_(std::move(expression)), accesses_(std::move(accesses)) {
  is_vectorised_ = MapCompiler(*this).compile();
}

// Scratch of a program: values that repeat, slots, the memories, and for the rest of a row a block for each
// operand and result. Of `evaluate`: tiles of operands that repeat, and pointers to all.
std::size_t MapKernel::scratch_bytes() const {
  const std::size_t buffers = accesses_.size() + expression_.results().size() + kFirstResult;
  const std::size_t program = patterns_ * kBlockBytes + slots_ * kSlotBytes + buffers * 2 * kBlockBytes;
  return std::max(program, accesses_.size() * kTile * sizeof(std::int64_t) + buffers * kBlockBytes);
}

void MapKernel::run(const std::byte* const* operands, std::byte* const* results, std::size_t count,
                    std::byte* scratch) const {
  if (is_vectorised_ && has_fused_multiply_add()) return run_program(operands, results, count, scratch);
  evaluate(operands, results, count, scratch);
}

void MapKernel::run_program(const std::byte* const* operands, std::byte* const* results, std::size_t count,
                            std::byte* scratch) const {
  std::byte* const end = scratch + patterns_ * kBlockBytes + slots_ * kSlotBytes;
  auto* const memories = reinterpret_cast<std::byte**>(end);
  memories[kConstants] = const_cast<std::byte*>(constants_.data());  // NOLINT: steps read it
  memories[kScratch] = scratch;
  const std::size_t outputs = expression_.results().size(), all = kFirstResult + outputs + accesses_.size();
  for (std::size_t r = 0; r < outputs; ++r) memories[kFirstResult + r] = results[r];
  for (std::size_t i = 0; i < accesses_.size(); ++i)
    memories[kFirstResult + outputs + i] = const_cast<std::byte*>(operands[i]);  // NOLINT: the same
  if (!once_.empty()) run_map_steps(once_, memories, 0, 1);
  const std::size_t blocks = count / kMapBlock, rest = count % kMapBlock;
  const std::size_t tile = slots_ == 0 ? blocks : kTile / kMapBlock;
  for (std::size_t first = 0; first < blocks; first += tile)
    run_map_steps(steps_, memories, first * kMapBlock, std::min(tile, blocks - first));
  if (rest > 0) run_rest(results, memories, end + all * kBlockBytes, count - rest, rest);
}

// Values that are no whole block are computed in copies.
void MapKernel::run_rest(std::byte* const* results, std::byte** memories, std::byte* copies,
                         std::size_t first, std::size_t count) const {
  const std::size_t outputs = expression_.results().size();
  std::byte** const operands = memories + kFirstResult + outputs;
  for (std::size_t i = 0; i < accesses_.size(); ++i, copies += kBlockBytes) {
    if (accesses_[i] != MapAccess::row) continue;
    const std::size_t bytes = bytes_of(expression_.operands()[i]);
    std::byte* const end = std::copy_n(operands[i] + first * bytes, count * bytes, copies);
    std::fill_n(end, (kMapBlock - count) * bytes, std::byte{0});
    operands[i] = copies;
  }
  for (std::size_t r = 0; r < outputs; ++r) memories[kFirstResult + r] = copies + r * kBlockBytes;
  run_map_steps(steps_, memories, 0, 1);
  for (std::size_t r = 0; r < outputs; ++r) {
    const std::size_t bytes = bytes_of(expression_.type_of(expression_.results()[r]));
    std::copy_n(copies + r * kBlockBytes, count * bytes, results[r] + first * bytes);
  }
}

void MapKernel::evaluate(const std::byte* const* operands, std::byte* const* results, std::size_t count,
                         std::byte* scratch) const {
  const std::size_t inputs = accesses_.size(), outputs = expression_.results().size();
  std::byte* const pointers = scratch + inputs * kTile * sizeof(std::int64_t);
  auto* const from = reinterpret_cast<const std::byte**>(pointers);
  auto* const to = reinterpret_cast<std::byte**>(pointers + inputs * kBlockBytes);
  for (std::size_t i = 0; i < inputs; ++i) {
    from[i] = operands[i];
    if (accesses_[i] == MapAccess::row) continue;
    // A tile of the operand's values, which repeat.
    const std::size_t bytes = bytes_of(expression_.operands()[i]);
    const std::size_t period = accesses_[i] == MapAccess::single ? 1 : kMapBlock;
    std::byte* const tile = scratch + i * kTile * sizeof(std::int64_t);
    for (std::size_t n = 0; n < std::min(kTile, count); ++n)
      std::copy_n(operands[i] + n % period * bytes, bytes, tile + n * bytes);
    from[i] = tile;
  }
  std::copy_n(results, outputs, to);
  for (std::size_t first = 0; first < count; first += kTile) {
    expression_.evaluate({from, inputs}, {to, outputs}, std::min(kTile, count - first));
    for (std::size_t i = 0; i < inputs; ++i) {
      if (accesses_[i] == MapAccess::row) from[i] += kTile * bytes_of(expression_.operands()[i]);
    }
    for (std::size_t i = 0; i < outputs; ++i)
      to[i] += kTile * bytes_of(expression_.type_of(expression_.results()[i]));
  }
}

}  // namespace sightline::nn
