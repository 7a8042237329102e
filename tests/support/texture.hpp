#pragma once
// Settings of textures that between them take every way through the code.

#include <string>
#include <vector>

#include "texture/settings.hpp"

namespace sightline::texture::test {

inline std::string name_of(const TextureSettings& settings) {
  std::string text = to_string(settings.mapping);
  for (const LbpOperator& one : settings.operators) text += " " + one.name();
  if (settings.contrast) text += " contrast";
  if (settings.cell > 0) text += " cells " + std::to_string(settings.cell);
  if (settings.labels) text += " labels";
  return text;
}

inline std::vector<TextureSettings> many_settings() {
  const LbpOperator grid;
  const auto circle = [](int points, double radius) { return LbpOperator(points, radius); };
  using Mapping = LbpMapping;
  return {
      {{grid}, Mapping::plain},
      {{circle(8, 1)}, Mapping::uniform},
      {{circle(8, 1.5)}, Mapping::rotation},
      {{circle(8, 2)}, Mapping::rotation_uniform, true},
      {{circle(16, 2)}, Mapping::uniform},
      {{circle(16, 3)}, Mapping::rotation, false, 0, true},
      {{circle(24, 3)}, Mapping::uniform, true, 0, true},
      {{circle(24, 2.5)}, Mapping::rotation_uniform},
      {{grid, circle(8, 2)}, Mapping::plain, false, 0, true},
      {{grid, circle(8, 1), circle(16, 5)}, Mapping::uniform, true, 16, false},
      {{circle(8, 1), circle(24, 4)}, Mapping::rotation_uniform, false, 7, true},
  };
}

}  // namespace sightline::texture::test
