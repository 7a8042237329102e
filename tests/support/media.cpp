#include "support/media.hpp"

#include <cmath>
#include <cstdlib>

#include "media/tiff_reader.hpp"
#include "support/program.hpp"
#include "texture/tiles/media_tiff.hpp"

namespace sightline::media::test {
namespace {

// Before any test, as the program does at its start.
[[maybe_unused]] const bool kReadsTiff = (set_tiff_reader(&tiles::tiff_reader()), true);

}  // namespace

std::vector<Frame> read_all(Reader& reader) {
  std::vector<Frame> frames;
  while (auto frame = reader.read()) frames.push_back(std::move(*frame));
  return frames;
}

std::vector<Frame> read_all(const std::string& input, const ReadOptions& options) {
  Reader reader(input, options);
  return read_all(reader);
}

std::int64_t make_clip(const std::string& path, const std::string& graph, WriteOptions options, bool sound) {
  ReadOptions read;
  read.keep_audio = sound;
  Reader reader("lavfi:" + graph, read);
  options.audio = reader.audio();
  Writer writer(path, reader.info(), options);
  while (auto frame = reader.read()) writer.write(*frame);
  writer.finish();
  return writer.frames();
}

std::string encode_clip(const TempDir& folder, const std::vector<std::string>& input,
                        const std::vector<std::string>& options, const std::string& name) {
  using sightline::test::operator+;
  const std::vector<std::string> before{"-v", "error", "-y"};
  const std::string file = folder / name;
  sightline::test::RunSetup setup;
  setup.program = "/usr/bin/ffmpeg";
  const auto outcome = sightline::test::run(before + input + options + std::vector<std::string>{file}, setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return file;
}

double mean_difference(GrayView a, GrayView b) {
  if (a.size() != b.size()) return 1e9;
  double sum = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) sum += std::abs(a.at(x, y) - b.at(x, y));
  return sum / a.width() / a.height();
}

double mean_difference(const Frame& a, const Frame& b) {
  return mean_difference(GrayView(to_gray(a).view()), GrayView(to_gray(b).view()));
}

double mean(GrayView a) {
  double sum = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) sum += a.at(x, y);
  return sum / a.width() / a.height();
}

StreamInfo info_of(Size size, int rate) {
  StreamInfo info;
  info.size = size;
  info.frame_rate = {rate, 1};
  return info;
}

Frame gray_frame(Size size, int value, double time, std::int64_t number) {
  const std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
      static_cast<std::uint8_t>(value));
  return frame_from_gray({pixels.data(), size.width, size.height, size.width}, number, time);
}

}  // namespace sightline::media::test
