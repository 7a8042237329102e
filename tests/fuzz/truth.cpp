#include <fstream>

#include "base/error.hpp"
#include "evaluation/ground_truth.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

namespace fs = std::filesystem;

// A folder for label files, of this process.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("sightline-fuzz-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

template <typename Read>
void expect_read_or_refused(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace

void truth(Bytes bytes) {
  static const Folder folder;
  const MemoryFile file(bytes);
  expect_read_or_refused([&] { load_mot_truth(file.path()); });
  expect_read_or_refused([&] { load_box_list(file.path()); });
  expect_read_or_refused([&] { load_coco_truth(file.path()); });
  fs::remove(folder.path() / "picture.txt");
  fs::create_symlink(file.path(), folder.path() / "picture.txt");
  fs::remove(folder.path() / "classes.txt");
  fs::create_symlink(file.path(), folder.path() / "classes.txt");
  expect_read_or_refused([&] { load_yolo_classes(folder.path()); });
  fs::remove(folder.path() / "classes.txt");
  expect_read_or_refused([&] { load_yolo_truth(folder.path(), {{"picture.png", {640, 480}}}); });
}

}  // namespace sightline::fuzz
