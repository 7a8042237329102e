#include "model/foreign_file.hpp"

#include <algorithm>
#include <cctype>

#include "base/text_encoding.hpp"

namespace sightline {
namespace {

using namespace std::literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* kind;
};
constexpr Signature kSignatures[] = {
    {0, "\x89PNG"sv, "a PNG picture"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG picture"},
    {0, "GIF8"sv, "a GIF picture"},
    {0, "II*\0"sv, "a TIFF picture"},
    {0, "MM\0*"sv, "a TIFF picture"},
    {8, "WEBP"sv, "a WebP picture"},
    {8, "AVI "sv, "a video (AVI)"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftyphei"sv, "a HEIF picture"},
    {4, "ftyp"sv, "a video (MP4 or MOV)"},
    {0, "\x1A\x45\xDF\xA3"sv, "a video (Matroska or WebM)"},
    {0, "OggS"sv, "an Ogg file"},
    {0, "\0\0\1\xBA"sv, "a video (MPEG)"},
    {0, "\0\0\0\1"sv, "a raw H.264 or H.265 stream"},
    {0, "FLV\1"sv, "a video (FLV)"},
    {0, "\x89HDF"sv, "an HDF5 file, as Keras writes models"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "GGUF"sv, "a GGUF model"},
    {0, "ftrt"sv, "a TensorRT engine"},
    {4, "TFL3"sv, "a TensorFlow Lite model"},
    {0, "\x80\2"sv, "a Python pickle, as PyTorch writes models"},
    {0, "SQLite format 3"sv, "an SQLite database, as galleries of faces are"},
    {0,
     "\x7F"
     "ELF"sv,
     "a program"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "\x1F\x8B"sv, "a compressed file (gzip)"},
    {0, "BZh"sv, "a compressed file (bzip2)"},
    {0,
     "\xFD"
     "7zXZ"sv,
     "a compressed file (xz)"},
    {0, "\x28\xB5\x2F\xFD"sv, "a compressed file (zstd)"},
    {0, "7z\xBC\xAF"sv, "an archive (7z)"},
};

struct Extension {
  std::string_view extension;
  const char* kind;
};
constexpr Extension kExtensions[] = {
    {".onnx", "an ONNX model"},
    {".onnx.data", "the weights of an ONNX model (give its .onnx file)"},
    {".onnx_data", "the weights of an ONNX model (give its .onnx file)"},
    {".pt", "a PyTorch model"},
    {".pth", "a PyTorch model"},
    {".ckpt", "a checkpoint of another program"},
    {".npz", "a file of NumPy arrays"},
    {".keras", "a Keras model"},
    {".h5", "a Keras model"},
    {".pb", "a TensorFlow model"},
    {".tflite", "a TensorFlow Lite model"},
    {".caffemodel", "a Caffe model"},
    {".weights", "a Darknet model"},
    {".engine", "a TensorRT engine"},
    {".mlmodel", "a Core ML model"},
};

Message kind_by_extension(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".toml")) return "a configuration, which --config takes"_message;
  const auto found =
      std::ranges::find_if(kExtensions, [&](const Extension& one) { return name.ends_with(one.extension); });
  return found == std::end(kExtensions) ? "" : found->kind;
}

// The version of its format, a small number, and then one of the fields that come next.
bool looks_like_onnx(std::string_view head) {
  return head.size() > 2 && head[0] == 8 && head[1] > 0 && head[1] < 32 &&
         (head[2] == 0x12 || head[2] == 0x3A);
}

bool is_text(std::string_view head) {
  return !head.empty() && std::ranges::all_of(head, [](unsigned char c) {
    return c >= ' ' ? c != 127 : c == '\t' || c == '\n' || c == '\r' || c == '\f';
  });
}

std::string kind_of_text(std::string_view head) {
  head = without_byte_order_mark(head);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "a text";
  if (head[first] == '<') return "an XML or HTML document";
  if (head[first] == '{') return "a JSON document";
  return "a text";
}

}  // namespace

Message foreign_kind(std::string_view head, const std::filesystem::path& file) {
  const auto holds = [&](const Signature& one) {
    return head.size() > one.offset && head.substr(one.offset).starts_with(one.bytes);
  };
  const auto found = std::ranges::find_if(kSignatures, holds);
  if (found != std::end(kSignatures)) return found->kind;
  if (Message kind = kind_by_extension(file); !kind.empty()) return kind;
  if (head.starts_with("PK\3\4")) return "a ZIP archive, as PyTorch writes models";
  if (looks_like_onnx(head)) return "an ONNX model";
  constexpr std::size_t kTransportPacket = 188;
  if (head.size() > kTransportPacket && head[0] == 'G' && head[kTransportPacket] == 'G')
    return "a video (MPEG-TS)";
  if (is_text(head)) return kind_of_text(head);
  return "";
}

}  // namespace sightline
