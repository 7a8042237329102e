#include "pipeline/runs/input_decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <utility>

#include "pipeline/runs/parted_run.hpp"
#include "pipeline/runs/reader_source.hpp"

namespace sightline::pipeline {
namespace {

struct Limits {
  std::int64_t frames;
  double seconds;
  EnergyCounter* energy;
};

// Cost of one decoder. A device may leave the file to software.
DecoderCost measure_one(const DecodedFile& file, const std::string& decoder, int threads,
                        const Limits& limits) {
  media::ReadOptions reading = file.reading;
  reading.decoder = decoder;
  reading.threads = threads;
  reading.loop = 0;
  reading.keep_audio = reading.tests_device = false;
  media::Reader reader(file.name, reading);
  ReaderSource source(reader);
  source.read();  // decoded when the file was opened
  DecoderCost cost = measure_decoder(source, limits.frames, limits.seconds, limits.energy);
  if (!reader.device().empty()) cost.processor = reader.device();
  return cost;
}

std::vector<DecoderCost> measure(const DecodedFile& file, const Limits& limits) {
  const media::ReadOptions& reading = file.reading;
  std::vector<DecoderCost> costs;
  if (reading.decoder != "software")
    costs.push_back(measure_one(file, reading.decoder, reading.threads, limits));
  const bool has_device = !costs.empty() && costs.front().processor != "CPU";
  DecoderTeam team;
  if (file.beside == 0) {
    const double to_end = (file.selection.end - reading.start) * file.info.frame_rate.value();
    const auto frames = std::min(static_cast<double>(file.info.frames.value_or(0)), to_end);
    team = choose_decoders({file.name, reading, reading.every * std::llround(frames), file.threads,
                            file.in_flight, file.selection},
                           has_device ? costs.front().processor : "");
  }
  if (team.decoders.empty()) {
    if (costs.empty()) costs.push_back(measure_one(file, "software", reading.threads, limits));
    costs.front().count = static_cast<int>(std::max<std::size_t>(file.beside, 1));
    return costs;
  }
  const auto software =
      static_cast<int>(std::ranges::count(team.decoders, "software", &PartedVideo::Decoder::name));
  if (!has_device) costs.clear();
  if (has_device) costs.front().count = static_cast<int>(team.decoders.size()) - software;
  if (software > 0) costs.emplace_back(measure_one(file, "software", 1, limits)).count = software;
  return costs;
}

// Codec, size of a frame's data to a power of two, and decoders decide what decoding costs.
std::string file_key(const DecodedFile& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file.name, error);
  const double frames = file.info.duration.value_or(0) * file.info.frame_rate.value() * file.reading.every;
  const auto of_frame =
      error ? 0 : static_cast<std::uint64_t>(static_cast<double>(bytes) / std::max(frames, 1.0));
  return fmt::format("{} {} 2^{} bytes, every {}, {} x {}", file.info.codec, file.info.pixel_format,
                     std::bit_width(of_frame), file.reading.every, file.reading.decoder, file.beside);
}

}  // namespace

InputDecoding decoding_of(DecodedFile file) {
  std::string key = file_key(file);
  return {std::move(key),
          [file = std::move(file)](std::int64_t frames, double seconds, EnergyCounter* energy) {
            return measure(file, {frames, seconds, energy});
          }};
}

}  // namespace sightline::pipeline
