#pragma once
/// Identifies the faces of a frame: stages after a face detector.
///
/// points    five points of each face (landmarks/finder.hpp) align     similarity transform of each face's
///     crop (recognition/crop.hpp) describe  the crops' templates (recognition/recogniser.hpp) identify  the
///     nearest templates of people who are known (recognition/search.hpp)
///
/// All but `align`, which is a few numbers a face, also run on OpenCL devices, with the same bits.

#include <memory>
#include <vector>

#include "detection/composite_detector.hpp"
#include "detection/sliding_window.hpp"
#include "faces/recognition/known_people.hpp"
#include "faces/recognition/recogniser.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline::recognition {

/// Faces of a frame that are named at most: the surest. The others are passed on as they are.
inline constexpr std::size_t kMostFaces = 64;

// Resources of the stages.
enum : std::size_t { kBoxes = ObjectProcessor::kObjectsResource, kShapes, kPlaces, kTemplates, kMatchLists };
// Stages.
enum : std::size_t { kPoints, kAlign, kDescribe, kIdentify };

/// One frame in flight.
class FaceWorkspace : public SlidingWindowWorkspace {
 public:
  std::size_t faces() const { return face_of.size(); }
  template <typename T>
  static std::span<T> all(InterStageBuffer& buffer, std::size_t count) {
    return {reinterpret_cast<T*>(buffer.data()), count};
  }

  std::vector<std::size_t> face_of;           ///< index of the detection, by face
  std::shared_ptr<const KnownPeople> people;  ///< known people when the frame came
  InterStageBuffer boxes;                     ///< landmarks::DeviceSquare of each face
  InterStageBuffer shapes;                    ///< landmarks::Shape of each
  InterStageBuffer places;                    ///< Similarity of each
  InterStageBuffer templates;                 ///< templates of the faces, contiguous
  NearestSearch search;
  Matches found;  ///< `per_face()` matches per face

  /// Number of matches per face.
  std::size_t per_face() const { return std::min<std::size_t>(kMatches, people->templates.size()); }
};

/// Thread-safety: as FrameProcessor.
class FaceIdentification : public ObjectProcessor {
 public:
  /// @param face_label  of the detector: what other labels stand for has no face
  FaceIdentification(std::shared_ptr<const Recogniser> recogniser, std::shared_ptr<const PeopleSource> people,
                     int face_label);

  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  void set_objects(Workspace& workspace, std::vector<Detection> objects) const override;
  std::vector<Detection> take_objects(Workspace& workspace) const override;
  void extend(DetectorInfo& info) override;
  std::shared_ptr<const KnownNames> known_names() const override { return people_; }
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;

  const Recogniser& recogniser() const { return *recogniser_; }

 private:
  void find_points(FaceWorkspace& w) const;
  void align(FaceWorkspace& w) const;
  void describe(FaceWorkspace& w) const;
  void identify(FaceWorkspace& w) const;

  std::shared_ptr<const Recogniser> recogniser_;
  std::shared_ptr<const PeopleSource> people_;
  int face_label_;
};

}  // namespace sightline::recognition
