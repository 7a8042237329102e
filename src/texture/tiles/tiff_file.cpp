#include "texture/tiles/tiff_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/message.hpp"
#include "texture/tiles/tiff_tags.hpp"

namespace sightline::tiles {

namespace {

// Limit of a single allocation by libtiff for a damaged file. Block sizes are checked separately.
constexpr tmsize_t kLargestAllocation = tmsize_t{1} << 30;

void keep(std::string& message, const char* format, va_list values) noexcept {
  if (!message.empty()) return;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, values);
  set_message(message, text.data());
}

// Called by C code: nothing may be thrown.
int on_error(TIFF*, void* messages, const char*, const char* format, va_list values) {
  keep(static_cast<TiffMessages*>(messages)->error, format, values);
  return 1;
}

int on_warning(TIFF*, void* messages, const char* module, const char* format, va_list values) {
  // Other messages concern unknown tags.
  const std::string_view name = module ? module : "";
  if (name == "JPEGLib" || name.substr(0, 3) == "Fax")
    keep(static_cast<TiffMessages*>(messages)->decoder_warning, format, values);
  return 1;
}

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

}  // namespace

void TiffMessages::clear() noexcept {
  error.clear();
  decoder_warning.clear();
}

TiffFile::TiffFile(const std::filesystem::path& file, const char* mode)
    : messages_(std::make_unique<TiffMessages>()) {
  open([&](TIFFOpenOptions* options) { return TIFFOpenExt(file.c_str(), mode, options); });
}

TiffFile::TiffFile(const AtomicFile& file, const char* mode) : messages_(std::make_unique<TiffMessages>()) {
  open([&](TIFFOpenOptions* options) -> TIFF* {
    // libtiff closes the descriptor.
    const int own = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) return nullptr;
    TIFF* const tiff = TIFFFdOpenExt(own, file.place().c_str(), mode, options);
    if (!tiff) ::close(own);
    return tiff;
  });
}

template <typename Open>
void TiffFile::open(const Open& open) {
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (!options || fault::strikes(fault::Kind::allocate, "TIFFOpenOptionsAlloc")) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, messages_.get());
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, messages_.get());
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kLargestAllocation);
  if (fault::strikes(fault::Kind::open, "TIFFOpen")) {
    messages_->error = "it cannot be opened";
    return;
  }
  tiff_.reset(open(options.get()));
}

TiffFile open_tiff_page(const std::filesystem::path& file, int page) {
  check_tag_sizes(file);
  // Not memory-mapped: a file that shrinks would crash the program.
  TiffFile tiff(file, "rm");
  const auto fail = [&](const std::string& problem, const char* remedy) {
    const std::string& said = tiff.messages().error;
    throw Error(ExitCode::input, problem + (said.empty() ? "" : ": " + said), remedy);
  };
  if (!tiff) fail("'" + file.string() + "' cannot be read as a TIFF", "check that it is complete");
  if (page > 0 && TIFFSetDirectory(tiff.get(), static_cast<tdir_t>(page)) != 1) {
    tiff.messages().clear();
    const auto pages = static_cast<std::int64_t>(TIFFNumberOfDirectories(tiff.get()));
    if (page < pages) fail("page " + std::to_string(page) + " of '" + file.string() + "' cannot be read", "");
    fail("'" + file.string() + "' has no page " + std::to_string(page),
         pages == 1 ? "it has only page 0" : ("its pages are 0 to " + std::to_string(pages - 1)).c_str());
  }
  if (tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_JPEG &&
      tiff.tag<std::uint16_t>(TIFFTAG_PHOTOMETRIC, 0) == PHOTOMETRIC_YCBCR)
    TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  return tiff;
}

std::unique_ptr<TiffPool::Reader> TiffPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Reader> reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  return std::make_unique<Reader>(Reader{open_tiff_page(file_, page_), {}, {}});
}

void TiffPool::give_back(std::unique_ptr<Reader> reader) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(reader));
  } catch (...) {  // no memory for the list: the next one opens the file again
  }
}

}  // namespace sightline::tiles
