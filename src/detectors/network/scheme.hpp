#pragma once
/// Meaning of the outputs of a network. One form covers all families of networks: places, each with scores
/// and a box, which lie in the outputs in some order. A network that classifies pictures has one place.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/network/preprocessing.hpp"
#include "detectors/network/tensors.hpp"

namespace sightline {
class WorkMeter;
}

namespace sightline::network {

/// Numbers of a place: the c-th of place i is element `offset + i * place_step + c * channel_step` of an
/// output.
struct Field {
  int output = -1;  ///< -1: there is none
  std::int64_t offset = 0;
  std::int64_t place_step = 0;
  std::int64_t channel_step = 1;
  bool is_there() const { return output >= 0; }
};

/// A rectangle that boxes are relative to, in parts of the input.
struct Prior {
  float x = 0, y = 0, width = 0, height = 0;  ///< centre and size
};

/// Places of one scale, row by row, `anchors` to a cell.
struct Head {
  std::int64_t places = -1;  ///< -1: as many as the output has when it is there
  float stride = 1;          ///< of cells, in pixels of the input
  std::int64_t columns = 0;
  std::int64_t anchors = 1;
  std::size_t first_prior = 0;
  float anchor_width = 0, anchor_height = 0;  ///< of BoxForm::anchor and darknet, in pixels of the input
  float spread = 1;                           ///< of BoxForm::darknet: range of centres, in cells
  Field classes, objectness, box, points, label;

  std::array<Field*, 5> fields() { return {&classes, &objectness, &box, &points, &label}; }
};

enum class ScoreFunction {
  none,
  sigmoid,
  softmax,
  softmax_of_classes,  ///< of classes alone; objectness and coordinates get the sigmoid
};

enum class BoxForm {
  corners,        ///< x1, y1, x2, y2
  centre,         ///< centre and size
  cell,           ///< centre from the cell's corner and logarithm of the size, in strides
  anchor,         ///< as in YOLOv5: activated; centre about the cell, size in parts of the head's anchor
  darknet,        ///< as in YOLOv3: centre in the cell, logarithm of the size in parts of the head's anchor
  distances,      ///< left, top, right, bottom from the cell's anchor, in strides
  distribution,   ///< the same, each as a distribution over whole numbers
  prior,          ///< offset from a prior, by the variances 0.1 and 0.2
  offset,         ///< centre from the cell's and size, in pixels of the input
  share_at_cell,  ///< as in FastestDet: centre by tanh about the cell, size by sigmoid, in parts of the input
  size_at_cell,   ///< width and height; objectness holds the centre's offset in the cell
  log_size_at_cell,  ///< as in CenterFace: the same as logarithms, all of them rows first
  picture,           ///< the whole picture: every class of the place is a finding
};

/// How an output is read.
struct Scheme {
  std::string type{};                 ///< word of `model_type`
  std::string reason{};               ///< why it was chosen, for people
  std::string doubt{};                ///< sign that it is wrong, as "scores up to 68"; empty: none
  std::vector<std::string> others{};  ///< words of `model_type` that fit the shapes, too
  bool is_certain =
      false;  ///< whether the file's structure alone tells; otherwise a test picture is looked at
  std::vector<Head> heads{};
  std::vector<Prior> priors{};
  int classes = 1;
  std::string object{};         ///< name of the only class, where the kind of network tells it
  bool has_background = false;  ///< the first class is none
  bool has_no_object = false;   ///< a class behind the last one is none; for softmax
  ScoreFunction activation = ScoreFunction::none;
  bool takes_root = false;    ///< the score is the root of class times objectness
  bool takes_powers = false;  ///< the score is objectness^0.6 times class^0.4
  bool only_peaks = false;    ///< places whose score is the largest of 3x3 cells count
  BoxForm box = BoxForm::corners;
  float anchor = 0.5F;  ///< place of a cell's anchor in it
  int bins = 0;         ///< of a distribution
  /// Units of coordinates: 1, or the input's width and height for fractions; for points likewise.
  float unit_x = 1, unit_y = 1;
  int points = 0;                 ///< of each place
  bool in_picture = false;        ///< coordinates are pixels of the frame, not of the input
  bool rows_first = false;        ///< corners are y1, x1, y2, x2
  bool suppresses = true;         ///< whether neighbours have to be suppressed
  bool coco91 = false;            ///< labels are COCO's numbers with gaps
  Preprocessing preprocessing{};  ///< that such networks usually have; its size is not set
  double threshold = 0.3;
  double iou = 0.6;
};

/// Origin of numbers, by the operator that made them.
enum class Content {
  other,
  probability,  ///< a sigmoid or a softmax
  label,        ///< the number of the largest of several
  ones,         ///< a constant 1
  raw,          ///< a convolution
};

/// Channels of an output that were made together.
struct ChannelRun {
  std::int64_t count = -1;  ///< -1: not known
  Content content = Content::other;
};

/// Facts about a network that are known before the meaning of its outputs.
struct NetworkOutputs {
  struct Output {
    std::string name;
    DataType data = DataType::f32;
    std::optional<Shape> shape;
    bool is_probability = false;  ///< whether a sigmoid or a softmax has made it
    bool is_raw = false;          ///< whether a convolution has, so that no box is finished
    bool has_raw_scores = false;  ///< whether a convolution has made its last channels
    std::int64_t columns = -1;    ///< its last side, which the file may tell even if it tells no shape
    bool is_softmax = false;      ///< whether it is a probability by a softmax
    std::string_view maker{};     ///< the operator that has made it, moves aside; empty: none
    std::vector<ChannelRun> first_runs{},
        last_runs{};  ///< along its second and its last side; empty: not known
  };
  std::vector<Output> all;
  Size input;                      ///< pixels
  int channels = 3;                ///< of the picture; 1: luma
  bool has_channels_last = false;  ///< as TensorFlow has the picture's channels
  /// Highest level of a pixel, 1 or 255, that the network's own normalisation takes; 0: it has none, or none
  /// that tells.
  int highest_level = 0;
  std::optional<int> classes;            ///< as many as there are names
  std::map<std::string, int> operators;  ///< how many nodes have each
  bool pools_like_yolov7 = false;        ///< whether maximum pooling halves maps of smooth activations
  std::vector<double> anchors;           ///< that the user gives: widths and heights, by rising stride
  bool knows_frame_size = false;         ///< whether the frame's size is one of its inputs
  bool knows_scale = false;  ///< whether it is told how much the frame was scaled, as PaddleDetection's are
  std::map<std::string, std::string> metadata;
  /// The outputs for a test picture, in the order of `all`; empty where it cannot be run. May be null.
  /// Whatever it returns stays as long as the function.
  std::function<std::vector<const Tensor*>()> probe;
};

/// What places of a reading look like, whatever their scores.
struct Survey {
  std::int64_t boxes = 0;         ///< that are not 0 throughout
  std::int64_t inverted = 0;      ///< of those, with a right or lower side before the other
  std::int64_t outside = 0;       ///< of those, with a centre far outside of the input
  float longest = 0;              ///< side of a box, in pixels of the input
  float lowest = 0, highest = 0;  ///< score
  float highest_of_none = -1;     ///< score of a place whose class number stands for none
  bool has_whole_labels = true;   ///< also where places have none of their own
};
/// Throws as decode.
Survey survey(const Scheme& scheme, const std::vector<const Tensor*>& outputs, Size input);
/// A sign that a reading is wrong, as "scores up to 68"; empty: none.
std::string sign_of_error(const Scheme& scheme, const Survey& survey, Size input);

/// Words of `model_type` that are known.
std::vector<std::string_view> scheme_names();
/// Chooses the scheme that fits the outputs, or checks that the wanted one does. Throws Problem, which lists
/// the outputs.
/// @param wanted  word of `model_type`; empty: to be inferred
Scheme choose_scheme(const NetworkOutputs& outputs, const std::string& wanted);

/// One place's finding, in pixels of the input unless the scheme says otherwise.
struct RawBox {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  float score = 0;
  int label = 0;
  int place = 0;  ///< number in the order of heads and places
  std::array<float, 10> points{};
};

/// Adds the findings of at least this score, by rising place. A score that is NaN is none.
/// Runs on all threads.
/// @param outputs  as many as the scheme was chosen for
/// @param meter    is told how long threads were busy; may be null
/// Throws Problem where outputs are not as large as expected.
void decode(const Scheme& scheme, const std::vector<const Tensor*>& outputs, float threshold,
            std::vector<RawBox>& boxes, WorkMeter* meter = nullptr);

/// The score that all places have; none where they differ, as they do unless something is wrong: a network
/// that was quantised badly, or one whose outputs do not depend on the picture. Throws as decode.
std::optional<float> only_score(const Scheme& scheme, const std::vector<const Tensor*>& outputs);

/// Whether `a` comes before `b`: by falling score, ties by place.
inline bool has_higher_confidence(const RawBox& a, const RawBox& b) {
  return a.score != b.score ? a.score > b.score : a.place < b.place;
}

/// Intersection over union.
double overlap(const RawBox& a, const RawBox& b);

/// Greedy suppression in the order of has_higher_confidence: a box falls where its intersection over
/// union with one that stays, of the same label, is above `iou`.
/// @param agnostic  whatever the label
void suppress(std::vector<RawBox>& boxes, double iou, bool agnostic);

}  // namespace sightline::network
