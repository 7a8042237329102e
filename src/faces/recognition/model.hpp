#pragma once
/// Model of face templates: settings of the steps from a face's five points to its template, and the learned
/// projection, in one file.
///
/// crop -> for each channel: normalisation -> histograms of regions -> folded with those of the mirror image
/// -> of a plain model, the counts themselves, compared by chi-square with a weight a region; of a learned
/// one, roots of the counts, projected and normalised, compared by squared Euclidean distance.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faces/recognition/crop.hpp"
#include "faces/recognition/face_descriptor.hpp"
#include "faces/recognition/projection.hpp"
#include "faces/recognition/templates.hpp"
#include "model/safetensors.hpp"

namespace sightline::recognition {

/// Left eye in the picture, right eye, nose, corners of the mouth.
inline constexpr std::size_t kFacePoints = 5;
using FacePoints = std::array<Point, kFacePoints>;

inline constexpr int kMostTemplateDims = 512;
inline constexpr int kLongestTemplate = 2047;
/// No sum of a projection reaches it, whatever is projected.
inline constexpr std::int64_t kProjectionLimit = std::int64_t{1} << 29;

/// Entry of the false-match rate table: at most a share of `rate` of the pairs of different people have a
/// distance up to `distance`.
struct FalseMatchRate {
  double rate = 0;
  std::uint32_t distance = 0;
  friend bool operator==(const FalseMatchRate&, const FalseMatchRate&) = default;
};

/// Immutable once loaded.
struct FaceModel {
  std::string name;  ///< name of its file
  CropGeometry geometry;
  std::vector<Channel> channels;
  /// A weight a region, in the order of FaceDescriptor's values. Only of models without projection.
  std::vector<std::uint8_t> region_weights;
  std::optional<Projection> projection;
  std::vector<FalseMatchRate> strangers;  ///< rates rising, distances too; may be empty
  std::string provenance;                 ///< description of its origin; may be empty
};

/// Format and comparison of templates.
TemplateFormat template_format(const FaceModel& model);
/// Writes the template of a face's counts (FaceDescriptor::count): projected, or as they are.
/// @param projector  null where templates are counts
/// @param target     bytes_per_template(format) of them
void write_template(const TemplateFormat& format, const Projector* projector,
                    std::span<const std::uint16_t> counts, Projector::Scratch& scratch,
                    std::span<std::uint8_t> target);
/// Largest distance with at most this false-match rate, interpolated in the model's table; no value below the
/// lowest rate.
std::optional<std::uint32_t> distance_of_strangers(const FaceModel& model, double rate);

/// Divisor of search distances for reports (Recogniser::real_distance). Vectors: gives 1 - cosine. Counts:
/// the distance at the highest rate of the false-match table, so that different people are about 1 apart for
/// every model; without a table, chi-square's unit.
double distance_unit(const FaceModel& model);

/// MiB of a file unless asked otherwise.
inline constexpr int kMaxFaceModelSize = 64;
/// The text `kind` of the files.
inline constexpr std::string_view kFaceModelKind = "sightline-recognition";

/// Reads a model: a safetensors file. Arrays: `channels` I32 [C, 8] (inner, outer, margin, region's width and
/// height, step's width and height, 1 if relative; of version 1, without the last; of version 3, 1 more if
/// folded), of version 3 `geometry` I32 [2] (pixels between the eyes, row of the eyes); `circles` F64 [N, 3]
/// (channel, points, radius); of a learned one `projection` I8 [dims, values], `bias` I32 [dims], `scales`
/// I32 [dims], `length` I32 [1], of another `region_weights` U8 [regions]; maybe `stranger_rates` F64 [K]
/// and `stranger_distances` I64 [K]. Texts: `kind`, `version` ("1", "2", or "3" where a model needs it), and
/// perhaps `provenance`. Throws Error (model): the file, the place and the reason.
FaceModel load_face_model(const std::filesystem::path& file, std::uint64_t max_bytes);
/// Whether a file begins like a model; false if it cannot be read.
bool looks_like_face_model(const std::filesystem::path& file);
/// The same of an open file; `path` stands for it in messages.
FaceModel read_face_model(const Safetensors& file, const std::filesystem::path& path);
/// Content of a model file. Throws std::invalid_argument if `read_face_model` would refuse it.
Safetensors container_of(const FaceModel& model);
/// Throws Error (failed) if the file cannot be written, and std::invalid_argument as container_of does.
void save_face_model(const FaceModel& model, const std::filesystem::path& file);

}  // namespace sightline::recognition
