#include "faces/recognition/identification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"
#include "faces/landmarks/opencl/finder.hpp"

namespace sightline::recognition {
namespace {

constexpr std::string_view kFaceResources[] = {"frame", "objects", "points", "places", "templates", "names"};
constexpr StageInfo kFaceStages[] = {
    {"points", {kFrameResource, kBoxes}, {kShapes}},
    {"align", {kShapes}, {kPlaces}},
    {"describe", {kFrameResource, kPlaces}, {kTemplates}, true},
    {"identify", {kTemplates}, {kMatchLists}, true},
};

}  // namespace

FaceIdentification::FaceIdentification(std::shared_ptr<const Recogniser> recogniser,
                                       std::shared_ptr<const PeopleSource> people, int face_label)
    : recogniser_(std::move(recogniser)), people_(std::move(people)), face_label_(face_label) {}

std::span<const std::string_view> FaceIdentification::resources() const {
  return kFaceResources;
}

std::span<const StageInfo> FaceIdentification::stages() const {
  return kFaceStages;
}

void FaceIdentification::extend(DetectorInfo& info) {
  info.model += "; " + recogniser_->description();
  // A search takes longer the more templates there are; in steps, so that plans outlast one more face.
  info.plan_key += fmt::format("; {}, up to {} templates", recogniser_->hash(),
                               std::bit_ceil(people_->current()->templates.size()));
  info.names_objects = true;
}

std::unique_ptr<Workspace> FaceIdentification::make_workspace() const {
  auto workspace = std::make_unique<FaceWorkspace>();
  const auto plan = [](InterStageBuffer& buffer, std::size_t bytes) {
    buffer.plan(static_cast<std::int64_t>(bytes * kMostFaces));
  };
  plan(workspace->boxes, sizeof(landmarks::DeviceSquare));
  plan(workspace->shapes, sizeof(landmarks::Shape));
  plan(workspace->places, sizeof(Similarity));
  plan(workspace->templates, recogniser_->template_bytes());
  return workspace;
}

bool FaceIdentification::prepare(Workspace& workspace, PictureView frame, Partition /*partition*/) const {
  auto& w = static_cast<FaceWorkspace&>(workspace);
  w.begin(
      frame, {}, [] {}, [] {});
  w.face_of.clear();
  w.people = people_->current();
  for (InterStageBuffer* buffer : {&w.boxes, &w.shapes, &w.places, &w.templates}) buffer->bind(nullptr);
  return true;
}

void FaceIdentification::set_objects(Workspace& workspace, std::vector<Detection> objects) const {
  auto& w = static_cast<FaceWorkspace&>(workspace);
  w.detections = std::move(objects);
  for (std::size_t i = 0; i < w.detections.size() && w.faces() < kMostFaces; ++i) {
    if (w.detections[i].label == face_label_) w.face_of.push_back(i);
  }
  const auto boxes = FaceWorkspace::all<landmarks::DeviceSquare>(w.boxes, w.faces());
  for (std::size_t face = 0; face < w.faces(); ++face)
    boxes[face] = landmarks::device_square(recogniser_->square_of(w.detections[w.face_of[face]]));
}

void FaceIdentification::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<FaceWorkspace&>(workspace);
  if (w.faces() == 0) return;
  switch (stage) {
    case kPoints:
      return find_points(w);
    case kAlign:
      return align(w);
    case kDescribe:
      return describe(w);
    default:
      return identify(w);
  }
}

void FaceIdentification::find_points(FaceWorkspace& w) const {
  w.make_luma();
  const auto boxes = FaceWorkspace::all<landmarks::DeviceSquare>(w.boxes, w.faces());
  const auto shapes = FaceWorkspace::all<landmarks::Shape>(w.shapes, w.faces());
  parallel_for_isolated(
      w.faces(),
      [&](std::size_t i) {
        shapes[i] = recogniser_->find_points(w.luma(), {boxes[i].x, boxes[i].y, boxes[i].side});
      },
      &w.work);
}

void FaceIdentification::align(FaceWorkspace& w) const {
  const auto shapes = FaceWorkspace::all<landmarks::Shape>(w.shapes, w.faces());
  const auto places = FaceWorkspace::all<Similarity>(w.places, w.faces());
  for (std::size_t i = 0; i < w.faces(); ++i) {
    Detection& face = w.detections[w.face_of[i]];
    const landmarks::Points points = landmarks::frame_points(shapes[i], recogniser_->square_of(face));
    places[i] = recogniser_->align(points);
    DetectionAttributes attributes = face.attributes ? *face.attributes : DetectionAttributes{};
    attributes.landmarks.clear();  // the detector's, where it found these points itself
    for (std::size_t p = 0; p < points.size(); ++p)
      attributes.landmarks.push_back({std::string(landmarks::kPointNames[p]), points[p].x, points[p].y});
    face.attributes = std::move(attributes);
  }
}

void FaceIdentification::describe(FaceWorkspace& w) const {
  w.make_luma();
  const auto places = FaceWorkspace::all<Similarity>(w.places, w.faces());
  const std::size_t bytes = recogniser_->template_bytes();
  const auto templates = FaceWorkspace::all<std::uint8_t>(w.templates, w.faces() * bytes);
  parallel_for_isolated(
      w.faces(),
      [&](std::size_t i) { recogniser_->describe(w.luma(), places[i], templates.subspan(i * bytes, bytes)); },
      &w.work);
}

void FaceIdentification::identify(FaceWorkspace& w) const {
  if (w.per_face() == 0) return;
  const auto templates =
      FaceWorkspace::all<const std::uint8_t>(w.templates, w.faces() * recogniser_->template_bytes());
  w.search.find(w.people->templates, templates, static_cast<int>(w.per_face()), w.found, &w.work);
}

std::vector<Detection> FaceIdentification::take_objects(Workspace& workspace) const {
  auto& w = static_cast<FaceWorkspace&>(workspace);
  const auto matches = std::span<const Match>(w.found.all);
  const auto now = people_->current();  // people may have been deleted while the frame was on its way
  const auto to_real = [&](std::uint32_t distance) { return recogniser_->real_distance(distance); };
  for (std::size_t i = 0; i < w.faces(); ++i) {
    Detection& face = w.detections[w.face_of[i]];
    DetectionAttributes attributes = face.attributes ? *face.attributes : DetectionAttributes{};
    name_face(*w.people, matches.subspan(i * w.per_face(), w.per_face()), to_real, attributes);
    face.attributes = std::move(attributes);
    if (now != w.people) face.attributes = without_forgotten(face.attributes, now->names);
  }
  return std::move(w.detections);
}

}  // namespace sightline::recognition
