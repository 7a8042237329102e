#include "faces/recognition/opencl/stages.hpp"

#include "processing/opencl/shared_device.hpp"

namespace sightline::recognition {

FaceSlot::FaceSlot(const FaceStages& stages)
    : OpenClSlotBase(stages),
      points(stages.points_),
      described(stages.describer_),
      search(stages.search_, queue) {}

FaceStages::FaceStages(const FaceIdentification& identification, const opencl::Context& context,
                       opencl::ProgramCache* cache)
    : OpenClStagesOf(identification, context, cache, {kPoints, kDescribe, kIdentify}),
      recogniser_(&identification.recogniser()),
      points_(context, recogniser_->points_model(), cache),
      describer_(recogniser_->descriptor(), recogniser_->projector(), context, cache),
      search_(context, recogniser_->format(), cache, default_search_tuning(context.device())) {
  buffer(kBoxes, &FaceWorkspace::boxes);
  buffer(kShapes, &FaceWorkspace::shapes);
  buffer(kPlaces, &FaceWorkspace::places);
  buffer(kTemplates, &FaceWorkspace::templates);
  list(kMatchLists);
}

std::shared_ptr<const DeviceTemplates> FaceStages::templates_of(FaceSlot& slot,
                                                                const FaceWorkspace& w) const {
  const std::lock_guard lock(mutex_);
  if (!templates_ || people_.lock() != w.people) {
    // A copy of its own: frames in flight may still search for the people of before.
    auto templates = std::make_shared<DeviceTemplates>(context());
    templates->update(slot.queue, w.people->templates);
    templates_ = std::move(templates);
    people_ = w.people;
  }
  return templates_;
}

void FaceStages::enqueue(FaceSlot& slot, const FaceWorkspace& w, std::size_t stage) const {
  if (stage == kIdentify) slot.found = {};
  if (w.faces() == 0) return;
  switch (stage) {
    case kPoints:
      slot.launched(slot.points.enqueue(slot.queue, slot.luma(), w.frame.size(), slot.luma_stride(),
                                        slot.buffer(kBoxes), w.faces(), slot.buffer(kShapes)));
      return;
    case kDescribe: {
      opencl::Event last;
      slot.described.enqueue(slot.queue, {&slot.luma(), slot.luma_stride(), w.frame.size()},
                             slot.buffer(kPlaces), w.faces(),
                             [&](std::string_view part, opencl::Event event) {
                               last = event;
                               slot.launched(part, std::move(event));
                             });
      const bool is_wide = recogniser_->format().kind == TemplateFormat::Kind::counts16;
      slot.launched(
          slot.queue.copy_after(last, is_wide ? slot.described.counts() : slot.described.templates(),
                                slot.buffer(kTemplates), w.faces() * recogniser_->template_bytes()));
      return;
    }
    default:
      if (w.per_face() == 0) return;
      slot.templates = templates_of(slot, w);
      slot.found = slot.search.enqueue(*slot.templates, slot.buffer(kTemplates), w.faces(),
                                       static_cast<int>(w.per_face()));
      for (const DeviceSearch::Step& step : slot.search.steps()) slot.launched(step.name, step.event);
  }
}

opencl::Event FaceStages::read(FaceSlot& slot, std::size_t /*resource*/) const {
  return slot.found;
}

void FaceStages::take(FaceSlot& slot, FaceWorkspace& workspace, std::size_t /*resource*/) const {
  if (slot.found) slot.search.matches(workspace.found);
}

std::unique_ptr<DeviceStages> FaceIdentification::make_stages_on(
    std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  return std::make_unique<StagesOnDevice<FaceStages>>(*this, opened);
}

}  // namespace sightline::recognition
