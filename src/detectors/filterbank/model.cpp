#include "detectors/filterbank/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "detectors/filterbank/network/file.hpp"
#include "model/header.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

// Programs that know no verification network take the first version only, and those that know none with heads
// of boxes the first two, and rightly so: without them, the same file would give other results.
constexpr std::string_view kVersion = "1";
constexpr std::string_view kNetworkVersion = "2";
constexpr std::string_view kBoxVersion = "3";
constexpr int kMaxWindowCells = 64;
constexpr int kMaxTemplates = 1024;

Dictionary load_large_dictionary(const Safetensors& file) {
  const auto values = file.array<float>("dictionary.reference", {Safetensors::kAny, 5, 5});
  std::vector<LargeFilter> filters(values.size() / std::tuple_size_v<LargeFilter>);
  if (!filters.empty()) std::memcpy(filters.data(), values.data(), values.size_bytes());
  return Dictionary(std::move(filters));
}

Dictionary read_dictionary(const Safetensors& file, const Descriptor& descriptor) {
  if (descriptor.patch == 5) return load_large_dictionary(file);
  const auto filters = file.array<std::int8_t>("dictionary", {Safetensors::kAny, 3, 3});
  const auto count = static_cast<std::int64_t>(filters.size() / kTaps);
  const auto reference = file.array<float>("dictionary.reference", {count, 3, 3});
  std::vector<Filter> exact(count);
  std::vector<FloatFilter> floats(count);
  if (count == 0) return {{}, {}};  // complains; and memcpy must not see a null pointer
  std::memcpy(exact.data(), filters.data(), filters.size_bytes());
  std::memcpy(floats.data(), reference.data(), reference.size_bytes());
  return {std::move(exact), std::move(floats)};
}

// No sum that the classifier forms for a window passes this bound (Cauchy-Schwarz, block by block).
double largest_sum(const Model& model, int template_index) {
  // Rounding adds at most a half to each of the features of a block that are not 0: 256 of the filters'
  // at most, as many as the block has pixels. The patterns' features have a length of 1 by themselves.
  const int patterns = model.descriptor.pattern_bins();
  const double length = largest_block_length(model.descriptor.normalisation);
  const double block_length =
      255 * std::sqrt(length * length + (patterns > 0 ? 1 : 0)) + 0.5 * std::sqrt(256 + patterns);
  const int block_size = model.descriptor.block_features(model.dictionary.size());
  const std::int8_t* weight = model.weights.data() + template_index * model.weights_per_template();
  double products = 0;
  double energy = 0;
  for (int block = 0; block < model.window.blocks(); ++block) {
    double squares = 0;
    for (int i = 0; i < block_size; ++i, ++weight) squares += *weight * *weight;
    products += block_length * std::sqrt(squares);
    energy += squares;
  }
  return model.classifier == ClassifierKind::linear
             ? products
             : 2 * products + energy + model.window.blocks() * block_length * block_length;
}

Descriptor load_descriptor(const ModelHeader& header) {
  Descriptor descriptor;
  const std::string normalisation = header.text("normalisation");
  if (const auto known = parse_normalisation(normalisation)) {
    descriptor.normalisation = *known;
  } else {
    header.fail("'normalisation' is '" + normalisation + "'", "it must be 'l1-sqrt', 'l1' or 'l2'");
  }
  if (const std::string* patch = header.find("patch")) {
    if (*patch != "3x3" && *patch != "5x5")
      header.fail("'patch' is '" + *patch + "'", "it must be '3x3' or '5x5'");
    descriptor.patch = *patch == "5x5" ? 5 : 3;
  }
  if (const std::string* contrast = header.find("contrast")) {
    if (*contrast == "sensitive") {
      descriptor.contrast = Contrast::sensitive;
    } else if (*contrast == "signed") {
      descriptor.contrast = Contrast::signed_value;
    } else if (*contrast != "insensitive") {
      header.fail("'contrast' is '" + *contrast + "'", "it must be 'sensitive', 'insensitive' or 'signed'");
    }
    if (descriptor.signed_value() && descriptor.patch != 3)
      header.fail("'contrast' is 'signed'", "it needs 3x3 patches");
  }
  if (const std::string* patterns = header.find("patterns")) {
    if (*patterns != "uniform" && *patterns != "none")
      header.fail("'patterns' is '" + *patterns + "'", "it must be 'uniform' or 'none'");
    descriptor.patterns = *patterns == "uniform";
    if (descriptor.patterns && !descriptor.exact())
      header.fail("'patterns' is 'uniform'",
                  "it needs 3x3 patches, 'l1-sqrt' and contrast other than 'signed'");
  }
  return descriptor;
}

void check_version(const Safetensors& file, const ModelHeader& header) {
  const std::string version = header.text("version");
  if (version != kVersion && version != kNetworkVersion && version != kBoxVersion) {
    header.fail("'version' is '" + version + "', but this program reads '" + std::string(kVersion) + "', '" +
                    std::string(kNetworkVersion) + "' and '" + std::string(kBoxVersion) + "'",
                "train it again, or use the version that made it");
  }
  if (version != kBoxVersion && has_boxes(file, header)) {
    header.fail("'version' is '" + version + "', but there is a 'network.box'",
                "a model with a network of boxes has version '" + std::string(kBoxVersion) + "'");
  }
  if (version == kVersion && has_network(header)) {
    header.fail("'version' is '" + version + "', but there is a 'network'",
                "a model with a network has version '" + std::string(kNetworkVersion) + "'");
  }
}

// The network for a model that has everything that all sizes share but the network; empty if the version
// says that there is none.
Network load_network(const Safetensors& file, const ModelHeader& header, const Model& model) {
  if (header.text("version") == kVersion) return {};
  if (model.classifier != ClassifierKind::linear)
    header.fail("'network' needs a linear classifier", "leave it out, or train a linear classifier");
  return read_network(file, header, model.window.pixels(), header.text("version") == kBoxVersion);
}

// Loads the parts that all sizes share.
Model load_common(const Safetensors& file, const ModelHeader& header) {
  Model model;
  model.label = header.text("label");
  if (model.label.empty() || model.label.size() > 64) header.fail("'label' must have 1 to 64 characters");
  const auto window = header.numbers("window", 2, 'x');
  model.window = {static_cast<int>(window[0] / kCell), static_cast<int>(window[1] / kCell)};
  if (model.window.cells_x < 2 || model.window.cells_y < 2 || model.window.cells_x > kMaxWindowCells ||
      model.window.cells_y > kMaxWindowCells || model.window.cells_x * kCell != window[0] ||
      model.window.cells_y * kCell != window[1]) {
    header.fail("'window' is '" + header.text("window") + "'",
                "each side must be a multiple of 8 from 16 to 512");
  }
  const auto object = header.numbers("object", 4, ',');
  model.object = {object[0], object[1], object[2], object[3]};
  if (!(object[0] >= 0 && object[1] >= 0 && object[2] > 0 && object[3] > 0 &&
        object[0] + object[2] <= window[0] && object[1] + object[3] <= window[1])) {
    header.fail("'object' is '" + header.text("object") + "', which is not inside the window");
  }
  model.descriptor = load_descriptor(header);
  model.epsilon = static_cast<int>(header.integer("epsilon", 0, 1 << 20));
  const std::string classifier = header.text("classifier");
  if (classifier == "distance") {
    model.classifier = ClassifierKind::distance;
  } else if (classifier != "linear") {
    header.fail("'classifier' is '" + classifier + "'", "it must be 'linear' or 'distance'");
  }
  model.network = load_network(file, header, model);
  return model;
}

// The numbers of filters, ascending; the last is all there are.
std::vector<int> load_sizes(const ModelHeader& header, int filters) {
  if (!header.find("sizes")) return {filters};
  std::vector<int> sizes;
  for (const double size : header.numbers("sizes", ',')) {
    const int smallest = sizes.empty() ? 1 : sizes.back() + 1;
    if (!(size >= smallest && size <= filters) || size != std::floor(size)) {
      sizes.clear();
      break;
    }
    sizes.push_back(static_cast<int>(size));
  }
  if (sizes.empty() || sizes.back() != filters) {
    header.fail("'sizes' is '" + header.text("sizes") + "'",
                "it must list whole numbers, ascending, that end with the " + std::to_string(filters) +
                    " filters of the dictionary");
  }
  return sizes;
}

// Each size has the network for itself, so that a small file with many sizes might take all memory.
void check_copies(const ModelHeader& header, const Network& network, std::size_t sizes,
                  std::uint64_t max_bytes) {
  const std::uint64_t bytes = bytes_of(network) * sizes;
  if (bytes <= max_bytes) return;
  header.fail("'network' takes " + std::to_string(bytes) + " bytes in " + std::to_string(sizes) +
                  " sizes, more than a model may have (" + std::to_string(max_bytes >> 20) + " MiB)",
              "give a larger --max-model-size if you trust the file"_message);
}

std::vector<std::int64_t> weights_shape(const Model& model, std::int64_t templates) {
  const Descriptor& descriptor = model.descriptor;
  std::vector<std::int64_t> shape{templates, model.window.blocks_y(), model.window.blocks_x()};
  if (descriptor.patterns) {
    shape.push_back(descriptor.block_features(model.dictionary.size()));
  } else {
    shape.insert(shape.end(), {kBlockCells, model.bins()});
  }
  return shape;
}

// `model` has everything but the classifier.
void load_classifier(const Safetensors& file, const ModelHeader& header, const std::string& suffix,
                     Model& model) {
  model.bias = header.integer("bias" + suffix, -1e12, 1e12);
  model.scale = header.number("scale" + suffix, 1e-30, 1e30);
  model.threshold = header.number("threshold" + suffix, -1e9, 1e9);
  model.calibration = ScoreCalibration::read(header, "calibration" + suffix);
  model.provenance = header.text("provenance" + suffix);
  const std::string name = "weights" + suffix;
  const auto weights = file.array<std::int8_t>(name, weights_shape(model, Safetensors::kAny));
  model.weights.assign(weights.begin(), weights.end());
  const int templates = model.templates();
  if (templates < 1 || templates > kMaxTemplates ||
      (model.classifier == ClassifierKind::linear && templates != 1)) {
    header.fail("'" + name + "' holds " + std::to_string(templates) + " templates",
                "a linear classifier has one, a distance classifier up to " + std::to_string(kMaxTemplates));
  }
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    const int weight = model.weights[i];
    if (weight > kMaxWeight || weight < (model.classifier == ClassifierKind::distance ? 0 : -kMaxWeight)) {
      header.fail("'" + name + "' holds " + std::to_string(weight) + " at " + std::to_string(i),
                  "weights must be between -90 and 90, templates between 0 and 90");
    }
  }
  for (int t = 0; t < templates; ++t) {
    if (largest_sum(model, t) > std::numeric_limits<std::int32_t>::max()) {
      header.fail("'" + name + "' has sums that may not fit into 32 bits",
                  "use a smaller window or fewer filters");
    }
  }
}

constexpr const char* kMissAt1e4 = "miss_rate_at_1e-4";
constexpr const char* kMissAt1e5 = "miss_rate_at_1e-5";

std::string to_text(const WindowEvaluation& evaluation) {
  const nlohmann::ordered_json json = {{kMissAt1e4, evaluation.miss_rate_at_1e4},
                                       {kMissAt1e5, evaluation.miss_rate_at_1e5},
                                       {"data", evaluation.data}};
  return json_text(json);
}

// The numbers and texts of a flat JSON object. No tree of nlohmann's: its destructor takes memory, and where
// it is refused it, the program ends.
class FlatObject final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit FlatObject(const std::string& text) { static_cast<void>(nlohmann::json::sax_parse(text, this)); }
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    if (depth_ == 1) texts[key_] = value;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 1; }  // no array at the top
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    numbers.clear();
    texts.clear();
    return false;
  }

 private:
  bool number(double value) {
    if (depth_ == 1) numbers[key_] = value;
    return true;
  }
  int depth_ = 0;
  std::string key_;
};

std::optional<WindowEvaluation> load_evaluation(const ModelHeader& header, const std::string& key) {
  const std::string* text = header.find(key);
  if (!text) return std::nullopt;
  const FlatObject json(*text);
  const auto refuse = [&](const std::string& what) {
    header.fail("'" + key + "' has no usable '" + what + "'",
                "evaluate the model again and store the result");
  };
  const auto rate = [&](const char* name) {
    const auto found = json.numbers.find(name);
    if (found == json.numbers.end() || !(found->second >= 0 && found->second <= 1)) refuse(name);
    return found->second;
  };
  WindowEvaluation evaluation{rate(kMissAt1e4), rate(kMissAt1e5), ""};
  const auto data = json.texts.find("data");
  if (data == json.texts.end()) refuse("data");
  evaluation.data = data->second;
  return evaluation;
}

bool starts_with(const Dictionary& longer, const Dictionary& beginning) {
  const auto n = static_cast<std::size_t>(beginning.size());
  if (longer.patch() != beginning.patch()) return false;
  if (longer.patch() == 5) return std::ranges::equal(longer.large().first(n), beginning.large());
  return std::ranges::equal(longer.filters().first(n), beginning.filters()) &&
         std::ranges::equal(longer.reference().first(n), beginning.reference());
}

void write_dictionary(const Dictionary& dictionary, Safetensors& file) {
  const std::int64_t filters = dictionary.size();
  std::vector<float> floats;
  if (dictionary.patch() == 5) {
    for (const LargeFilter& f : dictionary.large()) floats.insert(floats.end(), f.begin(), f.end());
    file.set<float>("dictionary.reference", {filters, 5, 5}, floats);
    return;
  }
  std::vector<std::int8_t> exact;
  for (const Filter& f : dictionary.filters()) exact.insert(exact.end(), f.begin(), f.end());
  for (const FloatFilter& f : dictionary.reference()) floats.insert(floats.end(), f.begin(), f.end());
  file.set<std::int8_t>("dictionary", {filters, 3, 3}, exact);
  file.set<float>("dictionary.reference", {filters, 3, 3}, floats);
}

}  // namespace

std::string size_suffix(int size, int largest) {
  return size == largest ? "" : "." + std::to_string(size);
}

std::vector<Model> load_models(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Safetensors file = Safetensors::load(path, max_bytes);
  const ModelHeader header(file, path);
  header.expect("kind", kModelKind,
                "choose a model of the filter-bank detector, or the configuration that fits this model");
  check_version(file, header);
  header.expect("cell", std::to_string(kCell), "train it again with this program");
  const Model common = load_common(file, header);
  Dictionary dictionary;
  try {
    dictionary = read_dictionary(file, common.descriptor);
  } catch (const Error& e) {
    if (std::string_view(e.what()).find(path.string()) != std::string::npos) throw;
    header.fail(e.message());
  }
  if (common.descriptor.exact() && dictionary.size() > common.descriptor.max_filters()) {
    header.fail("the dictionary has " + std::to_string(dictionary.size()) + " filters",
                "a contrast-sensitive one has at most " + std::to_string(common.descriptor.max_filters()));
  }
  const std::vector<int> sizes = load_sizes(header, dictionary.size());
  check_copies(header, common.network, sizes.size(), max_bytes);
  std::vector<Model> models;
  for (const int size : sizes) {
    Model& model = models.emplace_back(common);
    const std::string suffix = size_suffix(size, dictionary.size());
    model.dictionary = dictionary.first(size);
    load_classifier(file, header, suffix, model);
    model.evaluation = load_evaluation(header, "evaluation" + suffix);
  }
  return models;
}

Model load_model(const std::filesystem::path& path, std::optional<int> filters, std::uint64_t max_bytes) {
  std::vector<Model> models = load_models(path, max_bytes);
  if (!filters) return std::move(models.back());
  std::string sizes;
  for (Model& model : models) {
    if (model.dictionary.size() == *filters) return std::move(model);
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(model.dictionary.size());
  }
  throw Error(ExitCode::usage,
              path.string() + ": there is no classifier for " + std::to_string(*filters) + " filters",
              "the model has these numbers of filters: " + sizes);
}

void save_models(std::span<const Model> sizes, const std::filesystem::path& path) {
  const Model& largest = sizes.back();
  const Size window = largest.window.pixels();
  Safetensors file;
  file.metadata = {
      {"kind", std::string(kModelKind)},
      {"version", std::string(largest.network.empty()       ? kVersion
                              : largest.network.box.empty() ? kNetworkVersion
                                                            : kBoxVersion)},
      {"label", largest.label},
      {"window", std::to_string(window.width) + "x" + std::to_string(window.height)},
      {"cell", std::to_string(kCell)},
      {"object",
       join_numbers({largest.object.x, largest.object.y, largest.object.width, largest.object.height}, ',')},
      {"normalisation", to_text(largest.descriptor.normalisation)},
      {"epsilon", std::to_string(largest.epsilon)},
      {"classifier", largest.classifier == ClassifierKind::linear ? "linear" : "distance"},
  };
  const Descriptor standard;
  if (largest.descriptor.patch != standard.patch) file.metadata["patch"] = "5x5";
  if (largest.descriptor.contrast_sensitive()) file.metadata["contrast"] = "sensitive";
  if (largest.descriptor.signed_value()) file.metadata["contrast"] = "signed";
  if (largest.descriptor.patterns) file.metadata["patterns"] = "uniform";
  const int filters = largest.dictionary.size();
  write_dictionary(largest.dictionary, file);
  if (!largest.network.empty()) {
    if (largest.classifier != ClassifierKind::linear || largest.network.window != window) {
      throw std::invalid_argument("a network goes with a linear classifier of its window");
    }
    write_network(largest.network, file);
  }

  std::string list;
  int before = 0;
  for (const Model& model : sizes) {
    const int size = model.dictionary.size();
    if (size <= before || size > filters || !starts_with(largest.dictionary, model.dictionary)) {
      throw std::invalid_argument("dictionary of " + std::to_string(size) +
                                  " filters is not the beginning of the next");
    }
    before = size;
    list += (list.empty() ? "" : ",") + std::to_string(size);
    const std::string suffix = size_suffix(size, largest.dictionary.size());
    file.metadata["bias" + suffix] = std::to_string(model.bias);
    file.metadata["scale" + suffix] = join_numbers({model.scale}, ',');
    file.metadata["threshold" + suffix] = join_numbers({model.threshold}, ',');
    if (!model.calibration.empty()) file.metadata["calibration" + suffix] = model.calibration.to_text();
    file.metadata["provenance" + suffix] = model.provenance;
    if (model.evaluation) file.metadata["evaluation" + suffix] = to_text(*model.evaluation);
    file.set<std::int8_t>("weights" + suffix, weights_shape(model, model.templates()), model.weights);
  }
  if (sizes.size() > 1) file.metadata["sizes"] = list;
  file.save(path);
}

void save_model(const Model& model, const std::filesystem::path& path) {
  save_models({&model, 1}, path);
}

void store_evaluation(const Model& model, const std::filesystem::path& path) {
  const int size = model.dictionary.size();
  const std::vector<Model> models = load_models(path);
  const auto same = [&](const Model& other) {
    return other.dictionary.size() == size && starts_with(other.dictionary, model.dictionary) &&
           other.weights == model.weights && other.bias == model.bias && other.scale == model.scale &&
           other.network == model.network;
  };
  if (std::ranges::none_of(models, same)) {
    throw Error(ExitCode::failed,
                path.string() + " now holds another model, so the evaluation was not stored",
                "evaluate it again");
  }
  Safetensors file = Safetensors::load(path);
  file.metadata["evaluation" + size_suffix(size, models.back().dictionary.size())] =
      to_text(model.evaluation.value());
  file.save(path);
}

}  // namespace sightline::filterbank
