#include "detectors/filterbank/opencl/network.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "detectors/filterbank/layout.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"
#include "opencl/data.hpp"
#include "opencl/program.hpp"

namespace sightline::filterbank {
namespace {

using opencl::checked;
using opencl::define;

constexpr std::int64_t kWordsAligned = 4;      // pictures are read in vectors of four words
constexpr std::int64_t kOtherLocalBytes = 64;  // the kernel's own, besides the pictures

std::int64_t aligned(std::int64_t words) {
  return (words + kWordsAligned - 1) / kWordsAligned * kWordsAligned;
}

cl_int word_of(std::span<const std::int8_t> bytes) {
  cl_int word = 0;
  std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
  return word;
}

// A line that defines a macro.
std::string macro(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}

}  // namespace

DeviceNetwork::DeviceNetwork(const Network& network, const KernelTuning& tuning, std::uint64_t local_memory) {
  plan_pictures(network, tuning.network_pixels);
  place_pictures((static_cast<std::int64_t>(local_memory) - kOtherLocalBytes) / 4);
  Size size = network.window;
  for (std::size_t i = 0; i < network.convolutions.size(); ++i) {
    const Convolution& convolution = network.convolutions[i];
    size = convolution.output_size(size);
    add_convolution(convolution, i, size);
    add_weights(convolution);
  }
  generated_ +=
      "void convolve_all(int item, local uint* near, global uint* far, global const int* weights, global "
      "const int* "
      "biases, global const float* scales) {\n" +
      calls_ + "}\n";
  write_options(network, tuning);
  add_head(network.head);
  for (const NetworkHead& head : network.box) add_head(head);
}

void DeviceNetwork::plan_pictures(const Network& network, int pixels) {
  Size size = network.window;
  for (const Convolution& c : network.convolutions) {
    const Size output = c.output_size(size);
    const int border = c.size / 2;
    // Start and extent of the input of the last tile of outputs; in whole words for the first convolution.
    const int last_tile = (round_up(output.width, pixels) - pixels) * c.stride;
    const int tile = (pixels - 1) * c.stride + (c.inputs == 1 ? round_up(c.size, 4) : c.size);
    const int pitch =
        std::max(size.width + 2 * border, last_tile + (c.inputs == 1 ? round_up(tile, 4) : tile));
    pictures_.push_back(
        {c.inputs, border, c.inputs == 1 ? round_up(pitch, 4) : pitch, size.height + 2 * border});
    size = output;
  }
  pictures_.push_back({network.convolutions.back().outputs, 0, size.width, size.height});
  for (Picture& picture : pictures_)
    picture.words = aligned(static_cast<std::int64_t>(picture.row_words()) * picture.rows);
}

// Two pictures are in use at a time: in local memory, one lies at the beginning and the next one at the end.
// One that does not fit beside the one before is put into global memory.
void DeviceNetwork::place_pictures(std::int64_t local_words) {
  std::int64_t before = 0;  // size of the previous picture in local memory
  for (Picture& picture : pictures_) {
    picture.near = before + picture.words <= local_words;
    if (picture.near) near_words_ = std::max(near_words_, before + picture.words);
    before = picture.near ? picture.words : 0;
  }
  near_words_ = std::max(near_words_, kWordsAligned);
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    Picture& picture = pictures_[i];
    if (picture.near) {
      picture.offset = i % 2 == 0 ? 0 : near_words_ - picture.words;
    } else {
      picture.offset = far_words_;
      far_words_ += picture.words;
      checked(far_words_);
    }
  }
}

void DeviceNetwork::write_options(const Network& network, const KernelTuning& tuning) {
  const Picture& input = pictures_.front();
  const Picture& output = pictures_.back();
  const auto place = [](const std::string& name, const Picture& picture) {
    return " -D" + name + "_MEMORY=" + (picture.near ? "near" : "far") +
           define(name + "_OFFSET", checked(picture.offset));
  };
  options_ = define("CELL", kCell) + define("WINDOW_WIDTH", network.window.width) +
             define("WINDOW_HEIGHT", network.window.height) + define("GROUP", tuning.network_group) +
             define("PIXELS", tuning.network_pixels) + define("V", tuning.network_outputs) +
             opencl::define_variant("DOT", tuning.network_dot) + define("NEAR_WORDS", checked(near_words_)) +
             define("FAR_WORDS", checked(far_words_)) + place("INPUT", input) +
             " -DINPUT_SPACE=" + (input.near ? "local" : "global") + define("INPUT_BORDER", input.border) +
             define("INPUT_PITCH", input.pitch) + define("INPUT_ROWS", input.rows) + place("OUTPUT", output) +
             define("HEADS", static_cast<int>(1 + network.box.size())) +
             define("HEAD_WORDS", static_cast<int>(network.head.weights.size() / 4)) +
             define("HEAD_OFFSET", static_cast<int>(weights_.size()));
}

void DeviceNetwork::add_head(const NetworkHead& head) {
  const std::span<const std::int8_t> weights = head.weights;
  for (std::size_t i = 0; i < weights.size(); i += 4) weights_.push_back(word_of(weights.subspan(i, 4)));
}

// Its function and the call of it.
void DeviceNetwork::add_convolution(const Convolution& c, std::size_t index, Size output) {
  const Picture& from = pictures_[index];
  const Picture& to = pictures_[index + 1];
  const std::string name = "convolve_" + std::to_string(index);
  const auto number = [](const std::string& macro_name, std::int64_t value) {
    return macro(macro_name, std::to_string(value));
  };
  const auto space = [](const Picture& picture) { return picture.near ? "local" : "global"; };
  generated_ += macro("NAME", name) + number("SIZE", c.size) + number("STRIDE", c.stride) +
                number("INPUTS", c.inputs) + number("OUTPUTS", c.outputs) + number("WIDTH", output.width) +
                number("HEIGHT", output.height) + macro("FROM_SPACE", space(from)) +
                number("FROM_ROW", from.row_words()) + macro("TO_SPACE", space(to)) +
                number("TO_BORDER", to.border) + number("TO_PITCH", to.pitch) + number("TO_ROWS", to.rows) +
                std::string(opencl::kernel_source("filterbank/convolution.clh"));
  const auto memory = [](const Picture& picture) {
    return (picture.near ? "near + " : "far + ") + std::to_string(picture.offset);
  };
  calls_ += "  " + name + "(item, " + memory(from) + ", " + memory(to) + ", weights + " +
            std::to_string(weights_.size()) + ", biases + " + std::to_string(biases_.size()) + ", scales + " +
            std::to_string(scales_.size()) + ");\n  WAIT_FOR_GROUP();\n";
}

void DeviceNetwork::add_weights(const Convolution& c) {
  const int row = c.size * c.inputs;  // row of the kernel
  const std::span<const std::int8_t> weights = c.weights;
  for (int y = 0; y < c.size; ++y) {
    for (int i = 0; i < row; i += 4) {
      for (int output = 0; output < c.outputs; ++output) {
        const std::size_t at = (static_cast<std::size_t>(output) * c.size + y) * row + i;
        weights_.push_back(word_of(weights.subspan(at, std::min(4, row - i))));
      }
    }
  }
  biases_.insert(biases_.end(), c.bias.begin(), c.bias.end());
  scales_.insert(scales_.end(), c.scale.begin(), c.scale.end());
}

}  // namespace sightline::filterbank
