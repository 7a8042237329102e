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

}  // namespace

std::string level_source(const LevelTables& tables) {
  std::string text;
  for (std::size_t i = 0; i < tables.launches.size(); ++i) {
    const LevelTables::Launch& launch = tables.launches[i];
    text += fmt::format("LEVEL(level{}, {}, {})\n", i, launch.groups, launch.local_floats);
    for (cl_int c = 0; c < launch.chains; ++c) {
      const auto number = static_cast<std::size_t>(launch.first_chain + c);
      const ChainTable& chain = tables.chains[number];
      const bool is_last = c + 1 == launch.chains;
      if (c > 0) text += "else ";
      if (!is_last) text += fmt::format("if (group < {}) ", tables.chains[number + 1].first_group);
      text += fmt::format("{{\n  const Chain chain = {};\n  BEGIN_CHAIN\n", initialiser(chain));
      for (cl_int o = chain.first_op; o < chain.first_op + chain.ops; ++o)
        text += fmt::format("  {{ const Op op = {}; RUN }}\n",
                            initialiser(tables.ops[static_cast<std::size_t>(o)]));
      text += "}\n";
    }
    text += "}\n";
  }
  return text;
}

}  // namespace sightline::network
