#pragma once
/// Data of tensors that an ONNX file keeps in files beside it (TensorProto.external_data).

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>

namespace onnx {
class TensorProto;
}

namespace sightline::nn {

/// Reads only regular files in the folder of the model and below, once symbolic links are resolved. If the
/// model is itself a link, the folder that it leads to counts, too. Thread-safety: one thread at a time.
class ExternalData {
 public:
  /// For a model in memory, which has no folder: refuses all external data.
  ExternalData() = default;
  /// @param max_bytes  limit of all data together; data that several tensors share counts for each of them
  ExternalData(std::filesystem::path model, std::uint64_t max_bytes);

  /// Data of a tensor; valid until the next call.
  /// @param bytes  what the tensor's type and shape need
  /// Throws Problem for wrong places, and for files that are missing, too short or outside the folder.
  std::span<const char> read(const onnx::TensorProto& tensor, std::uint64_t bytes);

  /// Files that were read, with resolved links.
  const std::set<std::filesystem::path>& files() const { return files_; }

 private:
  void open(const std::string& location);
  std::filesystem::path find(const std::string& location) const;
  bool is_in_folder(const std::filesystem::path& resolved) const;
  std::string why_too_short();

  std::filesystem::path model_;
  std::uint64_t max_bytes_ = 0, taken_ = 0;
  std::set<std::filesystem::path> files_;
  std::string location_;  ///< of the file that is open
  std::ifstream stream_;
  std::uint64_t size_ = 0;  ///< of the file that is open
  std::string data_;
};

}  // namespace sightline::nn
