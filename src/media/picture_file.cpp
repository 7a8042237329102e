#include "media/picture_file.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file_names.hpp"
#include "media/decoded_picture.hpp"
#include "media/ffmpeg.hpp"
#include "media/scaler.hpp"

namespace sightline::media {

void write_picture(const std::string& path, const Frame& frame, std::span<const Detection> objects,
                   std::span<const std::string> labels, StreamInfo info, WriteOptions options) {
  info.size = frame.size();
  options.threads = 1;  // starting a pool of threads for one picture costs more than it gives
  options.audio.reset();
  Writer writer(path, info, options);
  writer.write(frame, objects, labels);
  writer.finish();
}

std::string save_picture(const std::string& pattern, const Frame& frame, std::span<const Detection> objects,
                         std::span<const std::string> labels) {
  if (frame.empty()) throw Error(ExitCode::input, "there is no frame to save");
  FileNames names(pattern, kPicturePattern, false);
  if (!is_picture_name(names.example()))
    throw Error(ExitCode::usage, "'" + pattern + "' is not the name of a picture",
                "choose a name that ends in .png or .jpg");
  StreamInfo info;
  const std::shared_ptr<const AVFrame> picture = picture_of(frame);
  info.color = color_tags(*picture);
  const AVRational aspect = picture->sample_aspect_ratio;
  if (aspect.num > 0 && aspect.den > 0) info.sample_aspect = {aspect.num, aspect.den};
  WriteOptions options;
  options.quality = 10;
  const std::string file = names.reserve(frame.number());
  try {
    write_picture(file, frame, objects, labels, info, options);
  } catch (...) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) std::filesystem::remove(file, ignored);
    throw;
  }
  return file;
}

}  // namespace sightline::media
