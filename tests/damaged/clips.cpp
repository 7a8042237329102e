#include "damaged/clips.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/child_process.hpp"
#include "support/program.hpp"

namespace sightline::damaged {
namespace {

struct Kind {
  const char* name;
  int width, height;
  std::vector<std::string> encoding;
};

// Containers, codecs and pixel formats that decoders treat each in their own way; odd sizes, and sizes of one
// pixel. AVI and BMP hold uncompressed pictures from the bottom up: their rows have a negative stride.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"h264.mp4", 160, 200, {"-c:v", "libx264", "-preset", "ultrafast", "-g", "4", "-pix_fmt", "yuv420p"}},
      {"h264-bframes.mkv", 160, 200, {"-c:v", "libx264", "-g", "8", "-bf", "2", "-pix_fmt", "yuv444p"}},
      {"h264-odd.mp4", 161, 201, {"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p"}},
      {"h264.h264", 160, 200, {"-c:v", "libx264", "-preset", "ultrafast", "-g", "4", "-pix_fmt", "yuv420p"}},
      {"hevc.mp4", 160, 200, {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"}},
      {"mpeg4.avi", 160, 200, {"-c:v", "mpeg4", "-g", "4"}},
      {"raw.avi", 150, 190, {"-c:v", "rawvideo", "-pix_fmt", "bgr24"}},
      {"mjpeg.avi", 160, 200, {"-c:v", "mjpeg", "-pix_fmt", "yuvj422p"}},
      {"mpeg2.ts", 160, 200, {"-c:v", "mpeg2video", "-g", "4"}},
      {"h264.ts", 160, 200, {"-c:v", "libx264", "-preset", "ultrafast", "-g", "4", "-pix_fmt", "yuv420p"}},
      {"mpeg1.mpg", 160, 208, {"-c:v", "mpeg1video", "-g", "4"}},
      {"jpegs.mjpeg", 160, 200, {"-c:v", "mjpeg", "-pix_fmt", "yuvj420p"}},
      {"vp8.webm", 160, 200, {"-c:v", "libvpx", "-deadline", "realtime", "-g", "4"}},
      {"vp9.webm", 160, 200, {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"}},
      {"ffv1.mkv", 160, 200, {"-c:v", "ffv1", "-pix_fmt", "yuv422p10le"}},
      {"huffyuv.avi", 160, 200, {"-c:v", "huffyuv"}},
      {"prores.mov", 160, 200, {"-c:v", "prores_ks"}},
      {"theora.ogv", 160, 208, {"-c:v", "libtheora"}},
      {"flv1.flv", 160, 200, {"-c:v", "flv1"}},
      {"wmv2.wmv", 160, 200, {"-c:v", "wmv2"}},
      {"palette.gif", 160, 200, {"-c:v", "gif"}},
      {"raw.y4m", 100, 192, {"-pix_fmt", "yuv411p"}},
      {"moving.apng", 160, 200, {"-c:v", "apng", "-f", "apng"}},
      {"bottom-up.bmp", 161, 201, {"-frames:v", "1", "-c:v", "bmp"}},
      {"deep.png", 160, 200, {"-frames:v", "1", "-c:v", "png", "-pix_fmt", "rgba64be"}},
      {"one.jpg", 160, 200, {"-frames:v", "1"}},
      {"one.tiff", 160, 200, {"-frames:v", "1"}},
      {"gray.pgm", 160, 200, {"-frames:v", "1"}},
      {"one.webp", 160, 200, {"-frames:v", "1", "-c:v", "libwebp"}},
      {"pixel.mkv", 1, 1, {"-c:v", "ffv1"}},
      {"column.avi", 1, 240, {"-c:v", "ffv1"}},
      {"row.mkv", 240, 1, {"-c:v", "ffv1"}},
  };
  return all;
}

Bytes bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

bool run_ffmpeg(const std::vector<std::string>& arguments) {
  using test::operator+;
  test::RunSetup setup;
  setup.program = test::find_program("ffmpeg");
  setup.timeout = 60;
  return test::run(test::Words{"-nostdin", "-v", "error", "-y"} + arguments, setup).exit_code == 0;
}

std::vector<Clip> make_clips(const std::string& folder) {
  std::vector<Clip> clips;
  if (test::find_program("ffmpeg").empty())
    throw std::runtime_error("there is no ffmpeg program to make clips with");
  for (const Kind& kind : kinds()) {
    const std::filesystem::path file = std::filesystem::path(folder) / kind.name;
    const std::string size = std::to_string(kind.width) + "x" + std::to_string(kind.height);
    std::vector<std::string> arguments{
        "-f",       "lavfi", "-i",      "testsrc=size=" + size + ":rate=10:duration=1",
        "-threads", "1",     "-fflags", "+bitexact"};
    arguments.insert(arguments.end(), kind.encoding.begin(), kind.encoding.end());
    arguments.push_back(file.string());
    if (!run_ffmpeg(arguments)) continue;  // no such encoder
    clips.push_back({kind.name, bytes_of(file), kind.width, kind.height});
    std::filesystem::remove(file);
  }
  if (clips.empty()) throw std::runtime_error("ffmpeg cannot make any clip");
  return clips;
}

}  // namespace sightline::damaged
