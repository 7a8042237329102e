#include "faces/landmarks/opencl/finder.hpp"

#include <vector>

#include "faces/landmarks/shape.hpp"
#include "opencl/data.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::landmarks {
namespace {

// Mirrors `Node` in kernels/landmarks/find.cl.
struct DeviceNode {
  cl_uchar first, second;
  cl_short threshold;
};
static_assert(sizeof(DeviceNode) == 4);
static_assert(sizeof(DeviceSquare) == sizeof(cl_int4));

constexpr std::size_t kLeafBytes = 16;
constexpr int kGroup = 128;

std::string build_options(int items) {
  using opencl::define;
  return define("ITEMS", items) + define("BOX_PIXELS", kBoxPixels) + define("PATCH_MARGIN", kPatchMargin);
}

}  // namespace

DeviceModel::DeviceModel(const opencl::Context& context, const Model& model, opencl::ProgramCache* cache)
    // One thread of a CPU's driver runs a work-group's items one after the other.
    : items_(context.device().type == opencl::DeviceType::cpu ? 1 : kGroup) {
  program_ = opencl::Program(context, "landmarks/find.cl", build_options(items_), cache);
  stages_ = model.stages;
  trees_ = model.trees;
  nodes_of_tree_ = model.nodes();
  pixels_ = model.pixels;
  const MeanShape mean(model.mean);
  norm_ = mean.norm();
  std::vector<cl_int> centred;
  for (const std::int64_t value : mean.centred()) centred.push_back(static_cast<cl_int>(value));
  std::vector<cl_short> places;
  for (const PixelPlace& place : model.places)
    places.insert(places.end(), {place.anchor, place.x, place.y, 0});
  std::vector<DeviceNode> nodes;
  for (const Split& split : model.splits) nodes.push_back({split.first, split.second, split.threshold});
  std::vector<cl_char> leaves(model.leaves.size() * kLeafBytes);
  for (std::size_t i = 0; i < model.leaves.size(); ++i)
    std::copy(model.leaves[i].begin(), model.leaves[i].end(),
              leaves.begin() + static_cast<std::ptrdiff_t>(i * kLeafBytes));
  opencl::Queue queue(context);
  opencl::upload(queue, mean_, model.mean);
  opencl::upload(queue, centred_, centred);
  opencl::upload(queue, places_, places);
  opencl::upload(queue, shifts_, model.shifts);
  opencl::upload(queue, nodes_, nodes);
  opencl::upload(queue, leaves_, leaves);
}

DeviceFinder::DeviceFinder(const DeviceModel& model)
    : model_(&model), kernel_(model.program_, "find_points") {}

opencl::Event DeviceFinder::enqueue(opencl::Queue& queue, const opencl::Buffer& luma, Size frame, int stride,
                                    const opencl::Buffer& squares, std::size_t count,
                                    const opencl::Buffer& shapes) {
  kernel_.arguments(luma, frame.width, frame.height, stride, squares, model_->mean_, model_->centred_,
                    model_->norm_, model_->places_, model_->shifts_, model_->nodes_, model_->leaves_,
                    model_->stages_, model_->trees_, model_->nodes_of_tree_, model_->pixels_, shapes);
  return kernel_.enqueue(queue, opencl::groups(count, static_cast<std::size_t>(model_->items_)));
}

}  // namespace sightline::landmarks
