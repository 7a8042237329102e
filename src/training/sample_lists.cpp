#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "evaluation/truth_output.hpp"
#include "training/sample_folder.hpp"

namespace sightline::training {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

Json options_as_json(const SampleFolderOptions& o) {
  const VariationBounds& b = o.samples.bounds;
  return {{"seed", o.samples.seed},
          {"copies", o.copies},
          {"test_share", o.test_share},
          {"size", {o.crop.object.width, o.crop.object.height}},
          {"margin", o.crop.margin},
          {"pasted", o.crop.pasted},
          {"mask", o.samples.mask == Mask::ellipse ? "ellipse" : "box"},
          {"mask_edge", o.samples.mask_edge},
          {"turn_x", b.turn_x},
          {"turn_y", b.turn_y},
          {"turn_z", b.turn_z},
          {"zoom", b.zoom},
          {"shift", b.shift},
          {"contrast", b.contrast},
          {"brightness", b.brightness},
          {"gamma", b.gamma},
          {"gradient", b.gradient},
          {"blur", b.blur},
          {"noise", b.noise},
          {"mirror", b.mirror},
          {"scenes", o.scenes},
          {"empty_scenes", o.empty_scenes},
          {"scene_side", o.scene.longest_side},
          {"scene_objects", o.scene.most_objects},
          {"smallest", o.scene.smallest},
          {"largest", o.scene.largest}};
}

}  // namespace

void SampleFolder::write_lists(const fs::path& folder) const {
  Json summary{{"options", options_as_json(options_)}};
  for (const bool is_test : {false, true}) {
    const SampleSide& side = is_test ? testing_ : training_;
    const char* const name = is_test ? "test" : "train";
    std::string boxes, backgrounds;
    Json objects = Json::array();
    for (const std::size_t i : side.objects) {
      const Box& box = objects_[i].box;
      const std::string picture = pictures_.name(objects_[i].picture);
      boxes += fmt::format("{} {} {} {} {}\n", quoted_field(picture), box.x, box.y, box.x + box.width,
                           box.y + box.height);
      objects.push_back({{"picture", picture},
                         {"box", {box.x, box.y, box.width, box.height}},
                         {"crops", fmt::format("{}/{}", name, crop_name(i))}});
    }
    for (const std::size_t i : side.backgrounds)
      backgrounds += fs::absolute(backgrounds_->file(i)).lexically_normal().string() + '\n';
    summary[name] = {{"objects", objects}, {"backgrounds", side.backgrounds.size()}};
    const auto list = [&](const char* what, const std::string& text) {
      if (!text.empty()) write_whole(folder / fmt::format("{}-{}.txt", name, what), text, "list");
    };
    list("boxes", boxes);
    list("backgrounds", backgrounds);
  }
  write_whole(folder / "samples.json", json_text(summary, 2) + '\n', "summary");
}

}  // namespace sightline::training
