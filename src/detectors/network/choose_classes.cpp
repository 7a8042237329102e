// The rule for networks that classify whole pictures.
#include <algorithm>

#include "detectors/network/evidence.hpp"
#include "detectors/network/labels.hpp"

namespace sightline::network {
namespace {

// Whether the numbers of one output are a description of the picture, as of a face to be recognised.
bool is_description(const Evidence& evidence, const NetworkOutputs::Output& output) {
  constexpr std::string_view kNormalises[] = {"BatchNormalization", "Div", "Where"};
  return evidence.wanted.empty() && !evidence.outputs.classes &&
         (has_word(output.name, {"embed", "feature", "descriptor"}) ||
          std::ranges::find(kNormalises, output.maker) != std::end(kNormalises));
}

struct UsualInput {
  Preprocessing preprocessing;
  const char* text;  ///< whose it is
};

// Unless the network normalises pictures itself, what its exporter or the picture's form tells; otherwise
// torchvision's.
UsualInput input_of_classifier(const Evidence& evidence) {
  constexpr int kSmall = 96;  // pixels: those of CIFAR and MNIST are not cut
  constexpr double kUsualCrop = 0.875;
  const NetworkOutputs& outputs = evidence.outputs;
  const bool is_ultralytics = evidence.metadata("task") == "classify";
  UsualInput usual{as_image_net(), "as torchvision prepares it"};
  Preprocessing& p = usual.preprocessing;
  const auto set = [&](double mean, double scale, const char* text) {
    p.mean.fill(mean);
    p.scale.fill(scale);
    usual.text = text;
  };
  if (outputs.highest_level == 255) {
    set(0, 1, "normalised by the network itself, from levels up to 255");
  } else if (outputs.highest_level == 1) {
    set(0, 255, "normalised by the network itself, from levels up to 1");
  } else if (is_ultralytics) {
    set(0, 255, "as Ultralytics prepares it");
  } else if (outputs.channels == 1) {
    set(0, 255, "gray, with levels up to 1");
  } else if (outputs.has_channels_last) {
    set(127.5, 127.5, "as Keras prepares it for MobileNet");
  }
  p.fit = outputs.has_channels_last ? Fit::standard : Fit::crop;
  const bool is_small = std::min(outputs.input.width, outputs.input.height) < kSmall;
  p.crop_fraction = is_ultralytics || is_small ? 1 : kUsualCrop;
  p.antialias = true;
  return usual;
}

}  // namespace

// One score for each class: 1xN, or 1xNx1x1. What is joined of several parts is one detection.
Match match_classification(const Evidence& evidence) {
  const NetworkOutputs& outputs = evidence.outputs;
  if (outputs.all.size() != 1 || !outputs.all[0].shape) return {};
  const NetworkOutputs::Output& output = outputs.all[0];
  const Shape& shape = *output.shape;
  if ((shape.size() != 2 && shape.size() != 4) || shape[0] != 1 || shape[1] != elements_of(shape) ||
      output.data != DataType::f32 || shape[1] < 1 || shape[1] > static_cast<std::int64_t>(kMostClasses) ||
      output.last_runs.size() > 1 || is_description(evidence, output))
    return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(shape[1]);
  // TensorFlow's networks for ImageNet have a class 0 that stands for none.
  constexpr int kImageNet = 1000;
  scheme.has_background = scheme.classes == kImageNet + 1 && outputs.classes == kImageNet;
  if (scheme.has_background) --scheme.classes;
  if (outputs.classes && *outputs.classes != scheme.classes) return {};
  Head head;
  head.places = 1;
  head.classes = {0, 0, shape[1], 1};
  scheme.heads = {head};
  scheme.box = BoxForm::picture;
  set_fractions(scheme, evidence);
  scheme.is_certain = true;
  scheme.suppresses = false;
  const bool is_single = shape[1] == 1;
  scheme.threshold = is_single ? 0.5 : 0;
  const char* function = "which are probabilities";
  if (!output.is_probability) {
    scheme.activation = is_single ? ScoreFunction::sigmoid : ScoreFunction::softmax;
    function =
        is_single ? "of which a sigmoid makes a probability" : "of which a softmax makes probabilities";
  }
  const UsualInput usual = input_of_classifier(evidence);
  scheme.preprocessing = usual.preprocessing;
  scheme.reason =
      std::string("scores of classes of the whole picture, ") + function + "; the input is " + usual.text;
  return scheme;
}

}  // namespace sightline::network
