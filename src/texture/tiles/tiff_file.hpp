#pragma once
/// Internal to src/tiles: an open TIFF file with libtiff's messages about it.

#include <tiffio.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"

namespace sightline::tiles {

/// libtiff's messages; only the first of each kind, since the others follow from it.
struct TiffMessages {
  std::string error;
  std::string decoder_warning;  ///< a codec's warning, if it continued after damage

  void clear() noexcept;
};

/// An open file. Thread-safety: one thread at a time.
class TiffFile {
 public:
  /// @param mode  of TIFFOpen
  /// May hold no file: see `messages`.
  TiffFile(const std::filesystem::path& file, const char* mode);
  /// A file being written; it stays its owner's.
  TiffFile(const AtomicFile& file, const char* mode);

  TIFF* get() const { return tiff_.get(); }
  explicit operator bool() const { return tiff_ != nullptr; }
  TiffMessages& messages() { return *messages_; }
  /// Writes pending data; errors are added to the messages.
  void close() { tiff_.reset(); }

  /// A tag's value, or its default; `missing` where it has neither.
  template <typename T>
  T tag(std::uint32_t tag, T missing) const {
    T value{};
    return TIFFGetFieldDefaulted(get(), tag, &value) == 1 ? value : missing;
  }

 private:
  template <typename Open>
  void open(const Open& open);

  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  std::unique_ptr<TiffMessages> messages_;  // before what writes to it
  std::unique_ptr<TIFF, Close> tiff_;
};

/// Opens a page of a TIFF for reading, so that codecs yield colour as RGB. Throws Error (input).
TiffFile open_tiff_page(const std::filesystem::path& file, int page);

/// Open handles of one page, one per reading thread. Thread-safety: any thread.
class TiffPool {
 public:
  TiffPool(std::filesystem::path file, int page) : file_(std::move(file)), page_(page) {}

  /// A handle with what its thread needs besides.
  struct Reader {
    TiffFile tiff;
    std::vector<std::uint8_t> raw;     ///< samples as they are in the file
    std::vector<std::uint8_t> pixels;  ///< colour on its way to luma
  };
  /// A reader for as long as the object lives. Throws Error (input).
  class Lease {
   public:
    explicit Lease(TiffPool& pool) : pool_(pool), reader_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(reader_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Reader& operator*() const { return *reader_; }
    Reader* operator->() const { return reader_.get(); }

   private:
    TiffPool& pool_;
    std::unique_ptr<Reader> reader_;
  };

 private:
  std::unique_ptr<Reader> take();
  void give_back(std::unique_ptr<Reader> reader) noexcept;

  const std::filesystem::path file_;
  const int page_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace sightline::tiles
