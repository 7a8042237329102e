#include "detectors/network/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"

namespace sightline::network {

namespace fs = std::filesystem;

std::span<const PublishedNetwork> published_networks() {
  // Figures: tests/benchmarks/README.md.
  static constexpr PublishedNetwork kAll[] = {
      {.name = "yolox-nano",
       .finds = "80 classes",
       .licence = "Apache-2.0",
       .origin = "YOLOX-nano by Megvii, https://github.com/Megvii-BaseDetection/YOLOX",
       .carrier = "the repository that carries the file adds no licence of its own",
       .address = "https://raw.githubusercontent.com/Bigisland1729/object-detection-models/"
                  "7f3f2fa34b351e3d2af150893458106ad3f3a84f/yolox_nano.onnx",
       .bytes = 3'678'356,
       .sha256 = "e8af074932d4ed7e232278e3055cefcdea3edf178874a3694ae292649fb464dd",
       .missed = 0.170,
       .precision = 0.731,
       .milliseconds = 8.2},
      {.name = "nanodet-m-0.5x",
       .finds = "80 classes",
       .licence = "Apache-2.0",
       .origin = "NanoDet by RangiLyu, https://github.com/RangiLyu/nanodet",
       .carrier = "the repository that carries the file is GPL-3.0",
       .address = "https://raw.githubusercontent.com/DefTruth/nanodet.lite.ai.toolkit/"
                  "706e71a7b52dcaa635c0e575b09452f91c46375b/examples/hub/onnx/cv/nanodet_m_0.5x.onnx",
       .bytes = 1'104'403,
       .sha256 = "1f4bddbfce70a35219b10621d66901aa379009853677d05d8a03e328056e0aad",
       .missed = 0.255,
       .precision = 0.640,
       .milliseconds = 3.9},
      {.name = "nanodet-m",
       .finds = "80 classes",
       .licence = "Apache-2.0",
       .origin = "NanoDet by RangiLyu, https://github.com/RangiLyu/nanodet",
       .carrier = "the repository that carries the file is GPL-3.0",
       .address = "https://raw.githubusercontent.com/DefTruth/nanodet.lite.ai.toolkit/"
                  "706e71a7b52dcaa635c0e575b09452f91c46375b/examples/hub/onnx/cv/nanodet_m.onnx",
       .bytes = 3'804'062,
       .sha256 = "7fc5019e9179d321a756610c42a3a35d80b804cdbf3a98ecd877886e1b619397",
       .missed = 0.288,
       .precision = 0.696},
      {.name = "picodet-s",
       .finds = "80 classes",
       .licence = "Apache-2.0",
       .origin = "PP-PicoDet by PaddlePaddle, https://github.com/PaddlePaddle/PaddleDetection",
       .carrier = "the repository that carries the file adds no licence of its own",
       .address = "https://raw.githubusercontent.com/hpc203/picodet-onnxruntime/"
                  "dfe4d6cd0a18cd4126ee381e81df8a0b1e6ad97b/coco/picodet_s_320_coco.onnx",
       .bytes = 4'040'569,
       .sha256 = "d7852a1508b36bfc2739770ad52ff28bf81e219dc5c15dd7868d5ebdf007b6c8",
       .missed = 0.132,
       .precision = 0.770},
      {.name = "deimv2-atto",
       .finds = "80 classes",
       .licence = "Apache-2.0",
       .origin = "DEIMv2 by Intellindust, https://github.com/Intellindust-AI-Lab/DEIMv2",
       .carrier = "the repository that carries the file is MIT",
       .address = "https://raw.githubusercontent.com/Kazuhito00/onnx-purego-interpreter/"
                  "7681e2537da1e608969cb054b2b4e4c004002d68/examples/DEIMv2/deimv2_hgnetv2_atto_coco.onnx",
       .bytes = 2'248'408,
       .sha256 = "b114aa6610ac7c2bd9b3186ffb001afa872430db957407ef2473f7148d00646e",
       .missed = 0.208,
       .precision = 0.740,
       .milliseconds = 7.5},
      {.name = "yunet",
       .finds = "faces",
       .licence = "Apache-2.0",
       .origin = "YuNet by Shiqi Yu, https://github.com/ShiqiYu/libfacedetection.train",
       .carrier = "from the authors' repository: Apache-2.0",
       .address = "https://raw.githubusercontent.com/ShiqiYu/libfacedetection.train/"
                  "0047ac24afb1a50a0c6105001c89d1b5b805dbf1/onnx/yunet_n_320_320.onnx",
       .bytes = 317'434,
       .sha256 = "81dbde155e982455488235acb8ec2dec5d647edf7cf7080d33e4abb69b93a0d2",
       .missed = 0.184,
       .milliseconds = 3.7},
      {.name = "ultraface",
       .finds = "faces",
       .licence = "MIT",
       .origin = "UltraFace RFB-320 by Linzaer, "
                 "https://github.com/Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB",
       .carrier = "from the author's repository: MIT",
       .address = "https://raw.githubusercontent.com/Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB/"
                  "dffdddda9794a50607cba8f318507a28c1c27cab/models/onnx/version-RFB-320.onnx",
       .bytes = 1'270'727,
       .sha256 = "34cd7e60aeff28744c657de7a3dc64e872d506741de66987f3426f2b79f88017",
       .missed = 0.469,
       .milliseconds = 3.1}};
  return kAll;
}

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const PublishedNetwork& one : published_networks()) names.emplace_back(one.name);
  return names;
}

const PublishedNetwork* find_published(std::string_view name) {
  const auto all = published_networks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

fs::path file_of(const PublishedNetwork& network) {
  const fs::path folder = data_file("networks");
  if (folder.empty())
    throw Error(ExitCode::usage, "there is no folder for networks: neither XDG_DATA_HOME nor HOME is set",
                "set XDG_DATA_HOME to a folder");
  return folder / (std::string(network.name) + ".onnx");
}

fs::path downloaded_file(const PublishedNetwork& network) {
  fs::path file = file_of(network);
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    throw Error(ExitCode::model, fmt::format("the network '{}' has not been downloaded yet", network.name),
                fmt::format("run `sightline network get {}`", network.name));
  return file;
}

Choices network_choices() {
  Choices choices;
  choices.files = true;
  for (const PublishedNetwork& one : published_networks())
    choices.values.push_back({std::string(one.name), std::string(one.finds)});
  return choices;
}

namespace {

constexpr char kMirrorVariable[] = "SIGHTLINE_NETWORKS_URL";

enum class Presence { absent, right, other };

Presence presence_of(const PublishedNetwork& network, const ShowContext& context) {
  std::error_code error;
  const fs::path file = file_of(network);
  if (!fs::is_regular_file(file, error)) return Presence::absent;
  const bool is_right =
      fs::file_size(file, error) == network.bytes && context.sha256_of(file) == network.sha256;
  return is_right ? Presence::right : Presence::other;
}

std::string number_text(std::optional<double> value, int digits, const char* unit = "") {
  return value ? fmt::format("{:.{}f}{}", *value, digits, unit) : "-";
}

std::string row_text(const PublishedNetwork& network, const ShowContext& context) {
  constexpr double kMebibyte = 1 << 20;
  const Presence presence = presence_of(network, context);
  return fmt::format(
      "{:<15} {:<10} {:>5.1f}  {:<10} {:>7} {:>5} {:>5}  {}\n", network.name, network.finds,
      static_cast<double>(network.bytes) / kMebibyte, network.licence,
      number_text(network.missed ? std::optional(100 * *network.missed) : std::nullopt, 1, "%"),
      number_text(network.precision, 2), number_text(network.milliseconds, 1),
      presence == Presence::right   ? "yes"
      : presence == Presence::other ? "another file"
                                    : "no");
}

class Get : public FamilyCommand {
 public:
  std::string name() const override { return "get"; }
  std::string description() const override { return "Download a published network, or list them"; }
  OptionSet options() override {
    OptionSet options;
    options.add("name", &name_, "Network to download (default: list all, with figures, licences and sources)")
        .suggest([] {
          Choices choices = network_choices();
          choices.files = false;
          return choices;
        });
    return options;
  }
  void run(const ShowContext& context) override {
    if (name_.empty()) return context.print(published_text(context));
    const PublishedNetwork* const network = find_published(name_);
    if (!network) {
      throw Error(ExitCode::usage, "'" + name_ + "' is not among the published networks",
                  nearest_or_all(name_, published_names()));
    }
    const fs::path file = file_of(*network);
    if (presence_of(*network, context) != Presence::right) {
      DownloadRequest request{std::string(network->name), std::string(network->address), network->bytes,
                              std::string(network->sha256)};
      if (const char* const mirror = std::getenv(kMirrorVariable); mirror && *mirror) {
        request.url = mirror;
        if (!request.url.ends_with('/')) request.url += '/';
        request.url += file.filename().string();
        request.may_be_plain = true;
      }
      context.download(request, file);
    }
    context.print(fmt::format("{}\nUse it by its name: sightline detect VIDEO --model {}\n", file.string(),
                              network->name));
  }

 private:
  std::string name_;
};

}  // namespace

std::string published_text(const ShowContext& context) {
  std::string text = fmt::format("{:<15} {:<10} {:>5}  {:<10} {:>7} {:>5} {:>5}  {}\n", "name", "finds",
                                 "MiB", "licence", "missed", "AP", "ms", "here");
  for (const PublishedNetwork& one : published_networks()) text += row_text(one, context);
  text +=
      "\nmissed: share of the people (170 photos of Penn-Fudan) or faces (65 pictures of\n"
      "CMU+MIT) that are missed at 0.1 false boxes a picture; AP: COCO's average\n"
      "precision for the people; ms: time for a frame on two CPU cores\n";
  for (const PublishedNetwork& one : published_networks())
    text += fmt::format("\n{}: {}\n  {}; {}\n  {}\n  SHA-256 {}\n", one.name, one.origin, one.licence,
                        one.carrier, one.address, one.sha256);
  return text + fmt::format("\nNetworks are kept in {}\n", data_file("networks").string());
}

std::unique_ptr<FamilyCommand> make_get_command() {
  return std::make_unique<Get>();
}

}  // namespace sightline::network
