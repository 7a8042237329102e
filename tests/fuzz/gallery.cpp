#include "faces/gallery/gallery.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

namespace {

// A file of its own in a folder of its own, in memory where that is possible: SQLite looks for files beside
// the one that it opens, which a MemoryFile cannot have.
class GalleryFile {
 public:
  explicit GalleryFile(Bytes bytes) {
    std::string name =
        (std::filesystem::is_directory("/dev/shm") ? "/dev/shm"
                                                   : std::filesystem::temp_directory_path().string()) +
        "/sightline-fuzz-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder in memory");
    folder_ = name;
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  GalleryFile(const GalleryFile&) = delete;
  GalleryFile& operator=(const GalleryFile&) = delete;
  ~GalleryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path path() const { return folder_ / "faces.gallery"; }

 private:
  std::filesystem::path folder_;
};

void read_all(gallery::Gallery& gallery) {
  const gallery::Snapshot all = gallery.snapshot();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.row(i).size() != static_cast<std::size_t>(all.kind.bytes) ||
        static_cast<std::size_t>(all.owners[i]) >= all.names.size())
      throw std::logic_error("a template of nobody");
  }
  for (const gallery::Person& person : gallery.people()) gallery.templates(person);
}

}  // namespace

void gallery(Bytes bytes) {
  if (bytes.size() > kLargestModel) return;
  const GalleryFile file(bytes);
  try {
    gallery::Gallery there(file.path(), gallery::Gallery::Access::read);
    read_all(there);
  } catch (const Error&) {
  }
  try {  // what is written to: refused, or a gallery afterwards
    gallery::Gallery there(file.path(), gallery::Gallery::Access::write);
    gallery::NewTemplate one;
    one.bytes.resize(static_cast<std::size_t>(there.kind().bytes));
    there.add("somebody", {&one, 1});
    there.remove({"somebody"});
    read_all(there);
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
