// Registration of the family of users' networks.
#include "family/family.hpp"

#include "detectors/network/commands.hpp"
#include "detectors/network/detector.hpp"
#include "detectors/network/published.hpp"

namespace sightline::network {
namespace {

FamilyInfo describe_family() {
  FamilyInfo info;
  info.name = "network";
  info.title = "networks";
  info.one = "a network";
  info.commands =
      "Download published networks (ONNX); explain how a network is read; compare it with other engines";
  info.model_file = "a network (.onnx)";
  info.parameters = {keys::kModel,     kInputSize,
                     kModelType,       kResizeType,
                     kPadValue,        kReverseInputChannels,
                     kMeanValues,      kScaleValues,
                     kCropFraction,    kTop,
                     kAnchors,         kLabels,
                     kClasses,         kClassThresholds,
                     keys::kThreshold, kConfidenceThreshold,
                     kIouThreshold,    kClassAgnostic,
                     kMaxCandidates,   keys::kMaxModelSize};
  info.remarks = {{"model", "an .onnx file, or a name of `sightline network get`; no --config is needed"},
                  {"max_candidates", "default 30000"},
                  {"max_model_size", "default 512"}};
  info.evaluation_values = {{"threshold", 0.001}};
  info.needs_no_config = true;
  return info;
}

class NetworkFamily : public Family {
 public:
  NetworkFamily() : Family(describe_family()) {}

  std::unique_ptr<Detector> make_reference(const Config& config) const override {
    return std::make_unique<NetworkDetector>(load_network(read_settings(config)), true);
  }
  bool recognises(const std::string& model) const override {
    return looks_like_onnx(model) || find_published(model);
  }
  std::vector<std::string> model_names() const override { return published_names(); }
  std::unique_ptr<ModelShow> make_model_show() const override { return network::make_model_show(); }
  std::vector<std::unique_ptr<FamilyCommand>> make_commands() const override {
    return network::make_commands();
  }

 protected:
  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    return make_network_detector(config);
  }
};

}  // namespace

const Family& family() {
  static const NetworkFamily family;
  return family;
}

}  // namespace sightline::network
