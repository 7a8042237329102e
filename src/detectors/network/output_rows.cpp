#include "detectors/network/output_rows.hpp"

namespace sightline::network {

const std::vector<OutputRow>& output_rows() {
  using enum BoxForm;
  using enum Cells;
  using enum ScoreFunction;
  constexpr auto classes = &Head::classes, objectness = &Head::objectness, box = &Head::box,
                 points = &Head::points;
  constexpr Fit kTopLeft = Fit::fit_to_window, kLetterbox = Fit::fit_to_window_letterbox;
  constexpr bool kOptional = true;
  constexpr char kDecoded[] = "finished boxes of all places and their class scores",
                 kPerStride[] = "classes and distances for each stride",
                 kQueries[] = "boxes and class scores of at most 1000 queries",
                 kMediaPipe[] = "boxes relative to cells, as in MediaPipe, with scores";
  // Of two outputs that could be distances, the one with the name of them, or the only one of four.
  const std::vector<OutputPart> classes_and_sides = {{classes, kNamed},
                                                     {box, kFourSides, "dis box reg"},
                                                     {classes, any_but(4)},
                                                     {classes, kAny},
                                                     {box, kFourSides}};
  // A row is a few lines.
  // clang-format off
  static const std::vector<OutputRow> kRows = {
  {.type = "classification", .also = "classify", .look = whole_picture, .is_in_fractions = true,
   .scheme = {.box = picture, .suppresses = false, .threshold = 0}},

  // Faces with points
  {.type = "yunet", .look = groups, .parts = {{classes, 1}, {objectness, 1}, {box, 4}, {points, 10}},
   .cells = stride, .groups = {2, 6},
   .scheme = {.reason = "scores, objectness, boxes and five points for each stride", .activation = sigmoid,
    .takes_root = true, .box = cell, .preprocessing = bytes_in_bgr(0), .threshold = 0.6, .iou = 0.3}},
  {.type = "scrfd", .look = groups,
   .parts = {{classes, 1}, {objectness, 1, "", kOptional}, {box, 4}, {points, 10, "", kOptional}},
   .cells = stride, .anchors = 2, .groups = {2, 6},
   .scheme = {.reason = "scores and distances of two anchors in each cell for each stride",
    .activation = sigmoid, .box = distances, .anchor = 0,
    .preprocessing = usual(kTopLeft, 0, true, {127.5, 127.5, 127.5}, {128, 128, 128}),
    .threshold = 0.5, .iou = 0.4}},
  {.type = "retinaface", .also = "retinaface-pytorch", .look = groups,
   .parts = {{classes, 2}, {box, 4}, {points, 10}}, .is_in_fractions = true,
   .scheme = {.has_background = true, .activation = softmax, .box = prior,
    .preprocessing = usual(kTopLeft, 0, false, {104, 117, 123}, {1, 1, 1}), .threshold = 0.6, .iou = 0.4},
   .refine = refine_retinaface},

  // Coordinates, objectness and classes of anchors
  {.type = "yolov3", .also = "yolov4", .look = box_pair, .only_as_told = true,
   .scheme = {.reason = kDecoded}, .refine = refine_decoded},
  {.type = "yolov3", .look = maps_of_darknet,
   .scheme = {.activation = sigmoid, .box = darknet,
    .preprocessing = usual(kLetterbox, 128, true, {0, 0, 0}, {255, 255, 255}), .iou = 0.45}},
  {.type = "yolov5", .also = "yolov7 yolov5-lite yolov5-face", .look = one_sheet,
   .parts = {{box, 4}, {objectness, 1}, {classes, kAmong}}, .cells = strides_uncut, .anchors = 3,
   .are_maps = false, .scheme = {.activation = sigmoid, .box = anchor, .preprocessing = as_ultralytics()},
   .refine = refine_yolov5_undecoded},
  {.type = "yolov5", .look = one_sheet, .parts = {{box, 4}, {objectness, 1}, {classes, kAmong}},
   .cells = strides_uncut, .anchors = 3, .are_maps = false,
   .scheme = {.reason = "three rows for each cell of an 8, 16 or 32 pixel grid, with four coordinates, "
    "objectness and class scores", .box = centre, .preprocessing = as_ultralytics()},
   .refine = refine_yolov5},
  {.type = "yolov5", .look = maps_of_yolov5,
   .scheme = {.activation = sigmoid, .box = anchor, .preprocessing = as_ultralytics()}},

  // Coordinates and classes of cells
  {.type = "yolox", .also = "yolov6", .look = one_sheet,
   .parts = {{box, 4}, {objectness, 1}, {classes, kAny}}, .cells = strides,
   .scheme = {.reason = "each row is a cell of an 8, 16 or 32 pixel grid, with four coordinates, objectness "
    "and class scores", .box = centre, .preprocessing = bytes_in_bgr(114)}, .refine = refine_yolox},
  {.type = "yolov8", .also = "yolo yolov9 yolov11 yolo11 yolo12 yolo13 yolo-nas", .look = box_pair,
   .cells = strides_uncut, .scheme = {.reason = kDecoded}, .refine = refine_decoded},
  {.type = "yolov8", .look = box_pair, .only_as_told = true, .scheme = {.reason = kDecoded},
   .refine = refine_decoded},
  {.type = "yolov8", .look = one_sheet, .parts = {{box, 4}, {classes, kAmong}}, .cells = strides_uncut,
   .are_maps = false, .may_turn = true,
   .scheme = {.reason = "four coordinates and class scores for each cell of an 8, 16 or 32 pixel grid",
    .box = centre, .preprocessing = as_ultralytics()}, .refine = refine_yolov8},
  {.type = "yolov8", .look = groups, .parts = {{box, 64}, {classes, kBefore}, {nullptr, 1, "", kOptional}},
   .cells = stride, .groups = {2, 6}, .are_maps = true, .may_join = true,
   .scheme = {.reason = "maps of 64 channels of distances, as distributions, and of classes",
    .activation = sigmoid, .box = distribution, .bins = 16, .preprocessing = as_ultralytics()},
   .refine = refine_yolov8_maps},
  {.type = "decoded", .also = "efficientdet", .look = box_pair, .scheme = {.reason = kDecoded},
   .refine = refine_decoded},
  {.type = "end_to_end", .also = "deepstream yolo26 ppyoloe yolov10", .look = finished_rows,
   .scheme = {.preprocessing = as_ultralytics()}},
  {.type = "nanodet", .also = "gfl nanodet-plus picodet", .look = one_sheet,
   .parts = {{classes, kNamed}, {box, kFourSides}}, .cells = strides,
   .scheme = {.reason = "each row is a cell of an 8, 16, 32 ... pixel grid, with class scores and distances",
    .box = distances, .preprocessing = as_openmmlab(kLetterbox, 0)}, .refine = refine_nanodet},
  {.type = "nanodet", .look = groups, .parts = classes_and_sides, .cells = stride, .groups = {4, 4},
   .are_maps = false, .scheme = {.reason = kPerStride, .activation = sigmoid, .box = distances,
    .preprocessing = as_image_net()}},  // PicoDet
  {.type = "nanodet", .look = groups, .parts = classes_and_sides, .cells = stride, .groups = {2, 6},
   .are_maps = false, .scheme = {.reason = kPerStride, .activation = sigmoid, .box = distances,
    .preprocessing = as_openmmlab(kLetterbox, 0)}},

  // Queries, and boxes that the network has selected
  {.type = "detr", .also = "tensorflow torchvision rtdetr rt-detr", .look = finished_boxes,
   .scheme = {.reason = "boxes, scores and class numbers in outputs of their own",
    .preprocessing = stretched(true, 255)}},
  {.type = "detr", .look = one_sheet, .parts = {{box, 4}, {classes, kAny}}, .are_maps = false,
   .is_in_fractions = true, .is_doubtful = true, .scheme = {.reason = kQueries, .box = centre,
    .suppresses = false, .preprocessing = stretched(true, 255)}, .refine = refine_queries},
  {.type = "detr", .look = box_pair, .is_in_fractions = true,
   .scheme = {.reason = kQueries, .activation = sigmoid, .box = centre, .suppresses = false,
    .preprocessing = stretched(true, 255)}, .refine = refine_query_pair},

  // Other kinds
  {.type = "ssd", .also = "ultraface ultra_lightweight_face_detection", .look = box_pair,
   .is_in_fractions = true, .is_doubtful = true,
   .scheme = {.reason = "boxes, and class scores of which the first is none", .has_background = true,
    .preprocessing = usual(Fit::standard, 0, true, {127, 127, 127}, {128, 128, 128}), .iou = 0.45},
   .refine = refine_ssd},
  {.type = "fcos", .look = groups, .parts = {{box, 4}, {classes, kAny}, {objectness, 1}},
   .cells = stride, .groups = {2, 6}, .are_maps = true,
   .scheme = {.reason = "maps of classes, distances and centredness for each stride",
    .activation = sigmoid, .takes_root = true, .box = distances,
    .preprocessing = usual(kTopLeft, 0, false, {103.53, 116.28, 123.675}, {1, 1, 1})}},
  {.type = "centerface", .look = groups,
   .parts = {{classes, 1}, {objectness, 2, "off"}, {box, 2}, {objectness, 2}, {points, 10}},
   .cells = stride, .are_maps = true,
   .scheme = {.reason = "maps of scores, sizes, offsets and five points", .object = "face",
    .activation = sigmoid, .box = log_size_at_cell,
    .preprocessing = usual(kTopLeft, 0, true, {0, 0, 0}, {1, 1, 1}), .threshold = 0.35, .iou = 0.3}},
  {.type = "centernet", .look = groups,
   .parts = {{objectness, 2, "off reg", kOptional}, {classes, kAny, "hm heat"}, {box, 2},
    {classes, any_but(2)}, {classes, kAny}, {objectness, 2, "", kOptional}},
   .cells = stride, .are_maps = true,
   .scheme = {.reason = "maps of classes, sizes and offsets", .activation = sigmoid, .only_peaks = true,
    .box = size_at_cell, .suppresses = false,
    .preprocessing = usual(kLetterbox, 0, false, {104.04, 113.985, 119.85}, {73.695, 69.87, 70.89})}},
  {.type = "fastestdet", .look = one_sheet, .parts = {{objectness, 1}, {box, 4}, {classes, kAny}},
   .cells = stride, .are_maps = true, .is_in_fractions = true,
   .scheme = {.reason = "one map of objectness, coordinates and class scores", .takes_powers = true,
    .box = share_at_cell, .preprocessing = stretched(false, 255), .threshold = 0.5, .iou = 0.45},
   .refine = refine_fastestdet},
  {.type = "yolov2", .look = map_of_yolov2,
   .scheme = {.activation = softmax_of_classes, .box = darknet, .preprocessing = stretched(true, 1),
    .iou = 0.45}},
  {.type = "yolo-fastestv2", .look = groups, .parts = {{box, 12}, {objectness, 3}, {classes, kAny}},
   .cells = stride, .groups = {2, 2}, .are_maps = true, .may_join = true, .has_either_layout = true,
   .scheme = {.reason = "maps of coordinates and objectness of three anchors, which share the class scores "
    "(the key `anchors` gives other sizes)", .box = anchor, .preprocessing = stretched(false, 255),
    .iou = 0.4}, .refine = refine_yolo_fastest},
  {.type = "mediapipe", .also = "blazeface", .look = groups, .parts = {{box, 16}, {classes, 1}},
   .cells = mediapipe, .groups = {1, 3}, .are_maps = false,
   .scheme = {.reason = kMediaPipe, .object = "face", .activation = sigmoid, .box = offset,
    .preprocessing = usual(kLetterbox, 0, true, {127.5, 127.5, 127.5}, {127.5, 127.5, 127.5}),
    .threshold = 0.5, .iou = 0.3}},
  {.type = "mediapipe", .look = groups, .parts = {{box, 18}, {classes, 1}}, .cells = mediapipe,
   .groups = {1, 3}, .are_maps = false,
   .scheme = {.reason = kMediaPipe, .object = "hand", .activation = sigmoid, .box = offset,
    .preprocessing = usual(kLetterbox, 0, true, {0, 0, 0}, {255, 255, 255}), .threshold = 0.5, .iou = 0.3}},
  };
  // clang-format on
  return kRows;
}

}  // namespace sightline::network
