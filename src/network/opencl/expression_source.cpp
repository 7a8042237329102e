#include "network/opencl/expression_source.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <fmt/format.h>

namespace sightline::nn {
namespace {

using Node = Expression::Node;

bool is_f32_or_boolean(DataType type) {
  return type == DataType::f32 || type == DataType::boolean;
}

class ExpressionWriter {
 public:
  ExpressionWriter(const Expression& expression, const std::vector<std::string>& operands)
      : expression_(expression), operands_(operands) {}

  ExpressionText write() {
    ExpressionText text;
    for (std::size_t n = 0; n < expression_.nodes().size(); ++n) {
      const Node& node = expression_.nodes()[n];
      const char* const type = node.type == DataType::boolean ? "int4" : "float4";
      text.statements += fmt::format("const {} e{} = {}; ", type, n, value(node));
    }
    for (const int result : expression_.results()) text.results.push_back(fmt::format("e{}", result));
    return text;
  }

 private:
  static std::string name(int node) { return fmt::format("e{}", node); }
  const Node& at(int node) const { return expression_.nodes()[static_cast<std::size_t>(node)]; }
  bool is_one(int node) const {
    return at(node).function == Function::constant && at(node).constant == Scalar(1.0F);
  }
  bool is_sigmoid_of(int node, int x) const {
    return at(node).function == Function::sigmoid && at(node).arguments[0] == x;
  }

  std::string value(const Node& node) const {
    const auto [a, b, c] = node.arguments;
    const bool is_boolean = node.type == DataType::boolean;
    const auto binary = [&](const char* sign) { return fmt::format("{} {} {}", name(a), sign, name(b)); };
    switch (node.function) {
      case Function::operand:
        return operands_[static_cast<std::size_t>(a)];
      case Function::constant:
        return is_boolean ? (node.constant.as<bool>() ? "(int4)-1" : "(int4)0")
                          : fmt::format("(float4){}", literal(node.constant.as<float>()));
      case Function::cast:
        if (node.type == at(a).type) return name(a);
        return is_boolean ? fmt::format("{} != 0", name(a))
                          : fmt::format("choose({}, (float4)1, (float4)0)", name(a));
      case Function::select:
        return is_boolean ? fmt::format("({0} & {1}) | (~{0} & {2})", name(a), name(b), name(c))
                          : fmt::format("choose({}, {}, {})", name(a), name(b), name(c));
      case Function::add:
        return binary("+");
      case Function::subtract:
        return binary("-");
      case Function::multiply:  // any number times NaN is NaN
        if (is_sigmoid_of(b, a)) return fmt::format("{0} * logistic({0})", name(a));
        if (is_sigmoid_of(a, b)) return fmt::format("{0} * logistic({0})", name(b));
        return binary("*");
      case Function::swish:
        if (is_one(b)) return fmt::format("{0} * logistic({0})", name(a));
        break;
      case Function::divide:
        return binary("/");
      case Function::bit_and:
        return binary("&");
      case Function::bit_or:
        return binary("|");
      case Function::bit_xor:
        return binary("^");
      case Function::bit_not:
        return "~" + name(a);
      case Function::equal:
        return at(a).type == DataType::boolean ? fmt::format("~({} ^ {})", name(a), name(b)) : binary("==");
      case Function::less:
        return binary("<");
      case Function::less_or_equal:
        return binary("<=");
      case Function::negate:
        return "-" + name(a);
      case Function::absolute:
        return fmt::format("fabs({})", name(a));
      case Function::sign:
        return fmt::format("sign_of({})", name(a));
      case Function::multiply_add:
        return fmt::format("fma({}, {}, {})", name(a), name(b), name(c));
      case Function::square_root:
        return fmt::format("sqrt({})", name(a));
      case Function::round:
        return fmt::format("rint({})", name(a));
      case Function::floor:
        return fmt::format("floor({})", name(a));
      case Function::ceiling:
        return fmt::format("ceil({})", name(a));
      default:
        break;
    }
    std::string call = std::string(name_of(node.function)) + "(" + name(a);
    for (std::size_t i = 1; i < arguments_of(node.function); ++i) call += ", " + name(node.arguments[i]);
    return call + ")";
  }

  const Expression& expression_;
  const std::vector<std::string>& operands_;
};

}  // namespace

std::string literal(float number) {
  return fmt::format("as_float(0x{:08x})", std::bit_cast<std::uint32_t>(number));
}

bool has_text(const Expression& expression) {
  const auto fits = [&](const Node& node) {
    const auto is_boolean = [&](int one) { return expression.type_of(one) == DataType::boolean; };
    switch (node.function) {
      case Function::remainder:
      case Function::modulo:
      case Function::sine:
      case Function::cosine:
        return false;
      case Function::less:
      case Function::less_or_equal:
        if (is_boolean(node.arguments[0])) return false;
        break;
      default:
        break;
    }
    return is_f32_or_boolean(node.type);
  };
  const auto is_real = [](DataType type) { return type == DataType::f32; };
  const auto is_real_node = [&](int node) { return expression.type_of(node) == DataType::f32; };
  return std::ranges::all_of(expression.nodes(), fits) &&
         std::ranges::all_of(expression.operands(), is_real) &&
         std::ranges::all_of(expression.results(), is_real_node);
}

ExpressionText text_for(const Expression& expression, const std::vector<std::string>& operands) {
  return ExpressionWriter(expression, operands).write();
}

}  // namespace sightline::nn
