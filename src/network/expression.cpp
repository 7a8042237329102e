#include "network/expression.hpp"

#include <algorithm>
#include <utility>

#include "network/functions.hpp"

namespace sightline::nn {
namespace {

enum class Domain : std::uint8_t { none, number, integer, bits, comparison, real };

struct FunctionRow {
  std::string_view name;
  std::size_t arguments;
  Domain domain;
};

// By Function.
constexpr FunctionRow kFunctions[] = {
    {"x", 0, Domain::none},
    {"constant", 0, Domain::none},
    {"cast", 1, Domain::none},
    {"select", 3, Domain::none},
#define FUNCTION(name, arguments, domain) {#name, arguments, Domain::domain},
#include "network/function_list.inc"
#undef FUNCTION
};

const FunctionRow& row_of(Function function) {
  return kFunctions[static_cast<std::size_t>(function)];
}

bool has_type(Domain domain, DataType type) {
  const bool is_real = type == DataType::f32, is_boolean = type == DataType::boolean;
  switch (domain) {
    case Domain::number:
      return !is_boolean;
    case Domain::integer:
      return !is_boolean && !is_real;
    case Domain::bits:
      return !is_real;
    case Domain::real:
      return is_real;
    default:
      return true;
  }
}

// --- loops over elements, by function

using Arguments = std::array<const std::byte*, 3>;

// Calls `f` on elements of T of each argument.
template <typename T, typename Result, std::size_t... i, typename F>
void loop(std::index_sequence<i...> /*arguments*/, const Arguments& from, std::byte* to, std::size_t count,
          const F& f) {
  const std::array<const T*, 3> x{reinterpret_cast<const T*>(from[0]), reinterpret_cast<const T*>(from[1]),
                                  reinterpret_cast<const T*>(from[2])};
  auto* const y = reinterpret_cast<Result*>(to);
  for (std::size_t n = 0; n < count; ++n) y[n] = f(x[i][n]...);
}

template <Domain domain, typename T>
inline constexpr bool kTakes = domain == Domain::comparison ? true
                               : domain == Domain::real     ? std::is_same_v<T, float>
                               : domain == Domain::number   ? !std::is_same_v<T, bool>
                               : domain == Domain::bits     ? std::is_integral_v<T>
                                                        : std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The same for the type of the arguments.
template <Domain domain, std::size_t count_of_arguments, typename F>
void loop_of_type(DataType type, const Arguments& from, std::byte* to, std::size_t count, const F& f) {
  with_type(type, [&]<typename T>() {
    if constexpr (kTakes<domain, T>) {
      using Result = std::conditional_t<domain == Domain::comparison, bool, T>;
      loop<T, Result>(std::make_index_sequence<count_of_arguments>(), from, to, count, f);
    }
  });
}

void run_select(DataType type, const Arguments& from, std::byte* to, std::size_t count) {
  const auto* const condition = reinterpret_cast<const bool*>(from[0]);
  with_bytes(type, [&]<typename T>() {
    const auto *const a = reinterpret_cast<const T*>(from[1]), *const b = reinterpret_cast<const T*>(from[2]);
    for (std::size_t n = 0; n < count; ++n) reinterpret_cast<T*>(to)[n] = condition[n] ? a[n] : b[n];
  });
}

void run_cast(DataType type, DataType to_type, const Arguments& from, std::byte* to, std::size_t count) {
  with_type(type, [&]<typename From>() {
    with_type(to_type, [&]<typename To>() {
      loop<From, To>(std::make_index_sequence<1>(), from, to, count, functions::cast<To, From>);
    });
  });
}

void fill(const Scalar& value, std::byte* to, std::size_t count) {
  with_type(value.data(), [&]<typename T>() { std::fill_n(reinterpret_cast<T*>(to), count, value.as<T>()); });
}

// @param type  of the arguments; of select: of the last two
void run_function(const Expression::Node& node, DataType type, const Arguments& from, std::byte* to,
                  std::size_t count) {
  switch (node.function) {
    case Function::operand:
      return;
    case Function::constant:
      return fill(node.constant, to, count);
    case Function::cast:
      return run_cast(type, node.type, from, to, count);
    case Function::select:
      return run_select(type, from, to, count);
#define FUNCTION(name, arguments, domain)                                 \
  case Function::name:                                                    \
    return loop_of_type<Domain::domain, arguments>(type, from, to, count, \
                                                   [](const auto... x) { return functions::name(x...); });
#include "network/function_list.inc"
#undef FUNCTION
  }
}

}  // namespace

std::string_view name_of(Function function) {
  return row_of(function).name;
}

std::size_t arguments_of(Function function) {
  return row_of(function).arguments;
}

Expression::Expression(std::vector<DataType> operands) : operands_(std::move(operands)) {}

Expression Expression::of(Function function, std::vector<DataType> operands,
                          std::initializer_list<Scalar> constants) {
  Expression expression(std::move(operands));
  Node node{function, {}, {}, {}};
  std::size_t next = 0;
  for (std::size_t i = 0; i < expression.operands_.size(); ++i)
    node.arguments.at(next++) = expression.operand(i);
  for (const Scalar& value : constants) node.arguments.at(next++) = expression.constant(value);
  if (next != arguments_of(function))
    throw std::logic_error("an expression has too few or too many arguments");
  expression.add_result(expression.add_call(node));
  return expression;
}

int Expression::operand(std::size_t i) {
  return add({Function::operand, operands_.at(i), {static_cast<int>(i)}, {}});
}

int Expression::constant(Scalar value) {
  return add({Function::constant, value.data(), {}, value});
}

int Expression::call(Function function, const std::vector<int>& arguments) {
  if (arguments.size() != arguments_of(function))
    throw std::logic_error(std::string(name_of(function)) + " has " + std::to_string(arguments.size()) +
                           " arguments");
  Node node{function, {}, {}, {}};
  std::ranges::copy(arguments, node.arguments.begin());
  return add_call(node);
}

int Expression::add_call(Node node) {
  const FunctionRow& row = row_of(node.function);
  const DataType type = type_of(node.arguments[0]);
  for (std::size_t i = 0; i < row.arguments; ++i) {
    const DataType other = type_of(node.arguments[i]);
    if (other != type || !has_type(row.domain, other))
      throw Problem("computes " + std::string(row.name) + " of " + std::string(text_of(type)) +
                    (other == type ? "" : " and " + std::string(text_of(other))));
  }
  node.type = row.domain == Domain::comparison ? DataType::boolean : type;
  return add(node);
}

int Expression::select(int condition, int a, int b) {
  if (type_of(condition) != DataType::boolean || type_of(a) != type_of(b))
    throw Problem("selects " + std::string(text_of(type_of(a))) + " or " + std::string(text_of(type_of(b))) +
                  " by " + std::string(text_of(type_of(condition))));
  return add({Function::select, type_of(a), {condition, a, b}, {}});
}

int Expression::cast(int x, DataType type) {
  return type == type_of(x) ? x : add({Function::cast, type, {x}, {}});
}

int Expression::add(Node node) {
  const auto found = std::ranges::find(nodes_, node);
  if (found != nodes_.end()) return static_cast<int>(found - nodes_.begin());
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

void Expression::evaluate(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                          std::size_t count) const {
  constexpr std::size_t kTile = 256;  // elements, which stay in the first cache
  std::vector<AlignedBuffer<std::byte>> tiles(nodes_.size());
  std::vector<const std::byte*> values(nodes_.size());
  for (AlignedBuffer<std::byte>& tile : tiles) tile.resize(kTile * sizeof(std::int64_t));
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::size_t length = std::min(kTile, count - first);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      const auto of = static_cast<std::size_t>(node.arguments[0]);
      if (node.function == Function::operand) {
        values[n] = operands[of] + first * bytes_of(node.type);
        continue;
      }
      Arguments from{};
      for (std::size_t i = 0; i < arguments_of(node.function); ++i)
        from[i] = values[static_cast<std::size_t>(node.arguments[i])];
      const int typed = node.arguments[node.function == Function::select ? 1 : 0];
      run_function(node, type_of(typed), from, tiles[n].data(), length);
      values[n] = tiles[n].data();
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      const std::size_t bytes = bytes_of(type_of(results_[r]));
      std::copy_n(values[static_cast<std::size_t>(results_[r])], length * bytes, results[r] + first * bytes);
    }
  }
}

namespace {

std::string text_of_constant(const Scalar& value) {
  return with_type(value.data(), [&]<typename T>() { return std::to_string(value.as<T>()); });
}

std::string text_of_node(const Expression& expression, int number) {
  const Expression::Node& node = expression.nodes()[static_cast<std::size_t>(number)];
  if (node.function == Function::operand) return "x" + std::to_string(node.arguments[0]);
  if (node.function == Function::constant) return text_of_constant(node.constant);
  std::string text(node.function == Function::cast ? text_of(node.type) : name_of(node.function));
  for (std::size_t i = 0; i < arguments_of(node.function); ++i)
    text += (i == 0 ? "(" : ", ") + text_of_node(expression, node.arguments[i]);
  return text + ")";
}

}  // namespace

std::string text_of(const Expression& expression) {
  std::string text;
  for (const int result : expression.results())
    text += (text.empty() ? "" : "; ") + text_of_node(expression, result);
  return text;
}

}  // namespace sightline::nn
