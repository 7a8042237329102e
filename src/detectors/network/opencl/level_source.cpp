#include "detectors/network/opencl/level_source.hpp"

#include <array>
#include <bit>

#include <fmt/format.h>

namespace sightline::network {
namespace {

std::string initialiser(const ChainTable& c) {
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {}u, {}, {}, {}, {}, {}}}", c.first_group, c.first_op, c.ops,
                     c.tile_shift, c.pixels, c.width, c.width_inverse, c.parts, c.ahead, c.ahead_row,
                     c.ahead_rows, c.ahead_step);
}

std::string initialiser(const Op& op) {
  constexpr std::size_t kFirstFloat = offsetof(Op, a) / sizeof(cl_int);
  std::string text;
  const auto words = std::bit_cast<std::array<cl_int, sizeof(Op) / sizeof(cl_int)>>(op);
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : ", ";
    const bool is_float = i == kFirstFloat || i == kFirstFloat + 1;
    text += is_float ? fmt::format("as_float({})", words[i]) : fmt::format("{}", words[i]);
  }
  return "{" + text + "}";
}

// The call of the function of level.cl for an operation's kind.
std::string_view call_of(const Op& op) {
  switch (op.kind) {
    case OpKind::stage:
      return "RUN(stage)";
    case OpKind::stage_quads:
      return "RUN(stage_quads)";
    case OpKind::multiply:
      return op.tile == (8 << 8 | 4)   ? "RUN_PRODUCT(multiply_8_4)"
             : op.tile == (4 << 8 | 4) ? "RUN_PRODUCT(multiply_4_4)"
                                       : "RUN_PRODUCT(multiply_few)";
    case OpKind::mean_lanes:
      return "RUN(sum_lanes)";
    case OpKind::pack:
    case OpKind::place:
      return "RUN(scatter)";
    case OpKind::depthwise:
      return "RUN_QUADS(depthwise)";
    case OpKind::binary:
      return "RUN_QUADS(binary)";
    case OpKind::pool:
      return "RUN_QUADS(pool)";
    case OpKind::average:
      return "RUN_QUADS(average)";
    case OpKind::pad:
      return "RUN_QUADS(pad)";
    case OpKind::resize:
      return "RUN_QUADS(resize)";
    case OpKind::mean:
      return "RUN_QUADS(mean)";
    case OpKind::copy:
      return "RUN_QUADS(copy)";
  }
  return "";
}

}  // namespace

std::string level_source(const LevelTables& tables, std::span<const std::size_t> launches) {
  std::string text;
  for (const std::size_t i : launches) {
    const LevelTables::Launch& launch = tables.launches[i];
    text += fmt::format("LEVEL(level{}, {}, {})\n", i, launch.groups, launch.local_floats);
    for (cl_int c = 0; c < launch.chains; ++c) {
      const auto number = static_cast<std::size_t>(launch.first_chain + c);
      const ChainTable& chain = tables.chains[number];
      const bool is_last = c + 1 == launch.chains;
      if (c > 0) text += "else ";
      if (!is_last) text += fmt::format("if (group < {}) ", tables.chains[number + 1].first_group);
      text += fmt::format("{{\n  const Chain chain = {};\n  BEGIN_CHAIN\n", initialiser(chain));
      for (cl_int o = chain.first_op; o < chain.first_op + chain.ops; ++o) {
        const Op& op = tables.ops[static_cast<std::size_t>(o)];
        text += fmt::format("  {{ const Op op = {}; {} }}\n", initialiser(op), call_of(op));
      }
      text += "}\n";
    }
    text += "}\n";
  }
  return text;
}

}  // namespace sightline::network
