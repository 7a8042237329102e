// Images of a folder, each opened in turn, so that types and sizes may differ.

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "media/folder.hpp"
#include "media/source.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

constexpr int kRate = 25;  // nominal: pictures of a folder have no times

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');  // also the "._x.jpg" companions that macOS leaves
}

std::vector<fs::path> images_of(const std::string& folder, FolderContents contents) {
  if (!contents.images.empty()) return std::move(contents.images);
  throw Error(ExitCode::input, "there are no images in the folder '" + folder + "'",
              contents.folders > 0 ? "use --recursive=true to read its sub-folders"_message
                                   : "images are recognised by their file name's extension, such as .jpg");
}

bool by_name(const fs::path& a, const fs::path& b) {
  return natural_less(a.filename().native(), b.filename().native());
}

/// Lists a folder and those in it.
class Listing {
 public:
  explicit Listing(bool recursive) : recursive_(recursive) {}

  FolderContents run(const std::string& folder) {
    if (const std::error_code error = list(folder))
      throw Error(ExitCode::input, problem_of(folder, error), "check its permissions");
    // Links come last, so that files found without links keep their own names.
    for (; !links_.empty(); links_.pop_front()) list_inner(links_.front());
    return std::move(contents_);
  }

 private:
  struct Found {
    std::vector<fs::path> images, folders, links;
  };

  static std::string problem_of(const fs::path& folder, std::error_code error) {
    return "cannot list the folder '" + folder.string() + "' (" + error.message() + ")";
  }

  static std::string lost_text(const fs::path& link) {
    return "cannot read '" + link.string() + "': " + why_unreadable(link);
  }

  void list_inner(const fs::path& folder) {
    if (const std::error_code error = list(folder)) contents_.problems.push_back(problem_of(folder, error));
  }

  std::error_code list(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0 && !known_.emplace(status.st_dev, status.st_ino).second) {
      ++contents_.known_folders;
      return {};
    }
    Found found;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      sort(*entry, found);
    for (std::vector<fs::path>* const all : {&found.images, &found.folders, &found.links})
      std::ranges::sort(*all, by_name);
    std::ranges::move(found.images, std::back_inserter(contents_.images));
    std::ranges::move(found.links, std::back_inserter(links_));
    for (const fs::path& inner : found.folders) list_inner(inner);
    return error;
  }

  void sort(const fs::directory_entry& entry, Found& found) {
    std::error_code ignored;
    if (is_hidden(entry.path())) return;
    const bool is_link = entry.is_symlink(ignored);
    if (entry.is_directory(ignored)) {
      if (!recursive_) {
        ++contents_.folders;
      } else {
        (is_link ? found.links : found.folders).push_back(entry.path());
      }
    } else if (is_image_name(entry.path())) {
      found.images.push_back(entry.path());
    } else if (is_link && !entry.exists(ignored)) {
      if (recursive_)
        contents_.problems.push_back(lost_text(entry.path()));
      else
        contents_.lost.push_back(entry.path());
    } else {
      ++contents_.other_files;
    }
  }

  const bool recursive_;
  FolderContents contents_;
  std::deque<fs::path> links_;
  std::set<std::pair<dev_t, ino_t>> known_;
};

}  // namespace

bool is_image_name(const fs::path& path) {
  return av_match_ext(
             path.filename().c_str(),
             "jpg,jpeg,jpe,jfif,png,bmp,dib,tif,tiff,webp,gif,pgm,ppm,pbm,pnm,pam,pfm,pgmyuv,jp2,j2k,j2c,"
             "jls,tga,dpx,exr,sgi,pcx,xbm,xpm,xwd,sun,ras,qoi,psd,hdr,dds,jxl,avif") != 0;
}

FolderContents list_folder(const std::string& folder, bool recursive) {
  return Listing(recursive).run(folder);
}

std::string why_unreadable(const fs::path& image) {
  std::error_code error;
  const fs::file_status status = fs::status(image, error);
  switch (status.type()) {
    case fs::file_type::regular:
      return {};
    case fs::file_type::not_found: {
      const fs::path target = fs::read_symlink(image, error);
      return error ? "it does not exist any more"
                   : "its link leads to '" + target.string() + "', which does not exist";
    }
    case fs::file_type::fifo:
      return "it is a named pipe, not a file";
    case fs::file_type::socket:
      return "it is a socket, not a file";
    case fs::file_type::block:
    case fs::file_type::character:
      return "it is a device, not a file";
    default:
      return error ? error.message() : "it is not a file";
  }
}

std::vector<fs::path> readable(std::vector<fs::path> images) {
  std::erase_if(images, [](const fs::path& image) {
    const std::string reason = why_unreadable(image);
    if (!reason.empty()) logger().warn("skipped '{}': {}", image.string(), reason);
    return !reason.empty();
  });
  return images;
}

std::vector<fs::path> list_images(const std::string& folder) {
  FolderContents contents = list_folder(folder, false);
  contents.images = readable(std::move(contents.images));
  return images_of(folder, std::move(contents));
}

namespace {

class Folder final : public Source {
 public:
  Folder(const std::string& folder, const SourceContext& context)
      : folder_(folder), options_(context.options), errors_(context.errors) {
    FolderContents contents = list_folder(folder, options_.recursive);
    report(folder, contents);
    images_ = images_of(folder, std::move(contents));
    options_.threads = 1;  // starting a pool of threads for one picture costs more than it gives
    options_.keep_audio = false;
  }

  std::optional<SourceFrame> next() override {
    if (failure_) throw Error(*failure_);
    if (next_ == images_.size() || is_stopped()) return std::nullopt;
    const std::size_t index = next_++;
    const std::string file = images_[index].string();
    SourceFrame frame;
    frame.damage = read(file, frame);
    if (is_stopped() && !frame.damage.empty()) return std::nullopt;
    frame.time = static_cast<double>(index) / kRate;
    frame.name = images_[index].lexically_relative(folder_).string();
    if (frame.damage.empty()) return frame;
    frame.picture.reset();
    errors_.add_concealed(frame.damage);
    const std::string problem = "cannot read '" + file + "': " + frame.damage;
    if (options_.keep_going) {
      logger().error("{}", problem);
      return frame;
    }
    failure_.emplace(ExitCode::input, problem,
                     options_.deliver_damaged
                         ? "use --keep-going=true to continue with the other pictures"_message
                         : "repair it, or remove it from the folder");
    if (!options_.deliver_damaged) throw Error(*failure_);
    return frame;
  }

  bool seek(double time) override {
    if (time > 0)
      next_ = static_cast<std::size_t>(std::min(time * kRate, static_cast<double>(images_.size())));
    return true;
  }

  StreamInfo info() const override {
    StreamInfo info;
    info.frame_rate = {kRate, 1};
    info.frames = static_cast<std::int64_t>(images_.size());
    info.duration = static_cast<double>(images_.size()) / kRate;
    info.codec = "images";
    info.is_pictures = true;
    return info;
  }

 private:
  void report(const std::string& folder, const FolderContents& contents) {
    for (const std::string& problem : contents.problems) {
      if (!options_.keep_going)
        throw Error(ExitCode::input, problem,
                    "check it, or use --keep-going=true to continue with the others"_message);
      errors_.add_concealed(problem);
      logger().error("{}", problem);
    }
    for (const fs::path& link : contents.lost)
      logger().warn("skipped '{}': {}", link.string(), why_unreadable(link));
    if (contents.other_files > 0)
      logger().info("{}: skipped {} that {} no picture's name", folder, counted(contents.other_files, "file"),
                    contents.other_files == 1 ? "has" : "have");
    if (contents.folders > 0)
      logger().info("{}: skipped {} (use --recursive to read them)", folder,
                    counted(contents.folders, "sub-folder"));
    if (contents.known_folders > 0)
      logger().info("{}: skipped {} to folders that are read already", folder,
                    counted(contents.known_folders, "link"));
  }

  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  // Reads a picture into `frame`. Returns why it cannot be read whole; empty if it can.
  std::string read(const std::string& file, SourceFrame& frame) {
    if (std::string reason = why_unreadable(file); !reason.empty()) return reason;
    DecodeErrors own(file);
    try {
      std::optional<SourceFrame> found = open_stream(file, {options_, own, no_audio_, 0})->next();
      if (own.total() > 0) return own.last();
      if (!found) return "there is no picture in it";
      frame = std::move(*found);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  const fs::path folder_;
  std::vector<fs::path> images_;
  ReadOptions options_;
  DecodeErrors& errors_;
  std::shared_ptr<AudioTrack> no_audio_;
  std::size_t next_ = 0;
  std::optional<Error> failure_;  ///< thrown by the next call of `next`
};

}  // namespace

std::unique_ptr<Source> open_folder(const std::string& folder, const SourceContext& context) {
  return std::make_unique<Folder>(folder, context);
}

}  // namespace sightline::media
