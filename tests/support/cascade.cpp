#include "support/cascade.hpp"

#include <algorithm>
#include <random>

namespace sightline::cascade {

Image<std::uint8_t> make_picture(Size size, unsigned seed) {
  Image<std::uint8_t> image(size.width, size.height);
  std::mt19937 random(seed);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const unsigned patch = (x / 13U * 7 + y / 11U * 5 + seed) % 9;
      image.view().at(x, y) =
          static_cast<std::uint8_t>(patch == 0 ? 128 : patch * 25 + random() % (patch * 8));
    }
  }
  return image;
}

Model make_model(const Shape& shape) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Model model;
  model.kind = shape.kind;
  model.window = shape.window;
  const int w = shape.window.width, h = shape.window.height;
  for (int s = 0; s < shape.stages; ++s) {
    model.stages.push_back({static_cast<std::int32_t>(model.trees.size()), shape.trees,
                            shape.kind == FeatureKind::haar ? -0.8F : -0.1F});
    for (int t = 0; t < shape.trees; ++t) {
      const int nodes = 1 + below(shape.max_nodes);
      model.trees.push_back({static_cast<std::int32_t>(model.nodes.size()), nodes,
                             static_cast<std::int32_t>(model.leaves.size())});
      model.max_tree_nodes = std::max(model.max_tree_nodes, nodes);
      int leaf = 0;
      for (int n = 0; n < nodes; ++n) {
        Node node;
        node.feature = shape.kind == FeatureKind::haar ? static_cast<int>(model.haar.size())
                                                       : static_cast<int>(model.lbp.size());
        // A chain whose other branches are leaves.
        const bool to_left = below(2) == 0;
        const auto next = [&](bool down) { return down && n + 1 < nodes ? n + 1 : -leaf++; };
        node.left = next(to_left);
        node.right = next(!to_left);
        node.threshold = static_cast<float>(below(2001) - 1000) * 2e-5F;
        model.nodes.push_back(node);
        if (shape.kind == FeatureKind::haar) {
          HaarFeature f;
          f.tilted = shape.tilted && below(2) == 0;
          model.has_tilted = model.has_tilted || f.tilted;
          const int side = std::min(w, h);
          const int a = 1 + below(side / 4);
          const int b = 1 + below(side / 4);
          const Rect whole = f.tilted
                                 ? Rect{b + below(std::max(w - 2 * a - b, 1)), below(h - 2 * a - b), 2 * a, b}
                                 : Rect{below(w - 3 * a), below(h - 2 * b), 3 * a, 2 * b};
          f.rects[0] = whole;
          f.weights[0] = shape.weight;
          const int form = f.tilted ? 0 : below(4);
          if (form == 0) {
            f.rects[1] = {whole.x, whole.y, f.tilted ? a : whole.width, f.tilted ? b : b};
            f.weights[1] = 2;
          } else if (form == 1) {
            f.rects[1] = {whole.x + a, whole.y, a, 2 * b};
            f.weights[1] = 3;
          } else if (form == 2) {
            f.rects[1] = {whole.x, whole.y, a, b};
            f.rects[2] = {whole.x + a, whole.y + b, a, b};
            f.weights[1] = f.weights[2] = 2;
          } else {
            f.rects[1] = {whole.x + 1, whole.y + 1, a, 1};
            f.weights[1] = 5;
          }
          model.haar.push_back(f);
        } else {
          const int a = 1 + below(w / 3), b = 1 + below(h / 3);
          model.lbp.push_back({below(w - 3 * a + 1), below(h - 3 * b + 1), a, b});
          for (int i = 0; i < kSubsetWords; ++i)
            model.subsets.push_back(static_cast<std::uint32_t>(random()));
        }
      }
      for (int l = 0; l <= nodes; ++l) model.leaves.push_back(static_cast<float>(below(2001) - 1000) * 1e-3F);
    }
  }
  return model;
}

}  // namespace sightline::cascade
