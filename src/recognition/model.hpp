#pragma once
/// How faces are described and compared, and what was learned of it: the settings of the way from a face's
/// five points to its template, with the projection, in one file.
///
/// crop -> for each channel: normalisation -> histograms of regions -> folded with those of the mirror image
/// -> of a plain model, the counts themselves, compared by chi-square with a weight a region; of a learned
/// one, roots of the counts, projected and normalised, compared by squared Euclidean distance.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/safetensors.hpp"
#include "recognition/crop.hpp"
#include "recognition/descriptor.hpp"
#include "recognition/templates.hpp"

namespace sightline::recognition {

/// What is done to a crop's light before patterns are counted. Blurs are of Gaussians with a standard
/// deviation of 1, 2 or 4 pixels; 0: none.
struct Normalisation {
  int inner = 0;  ///< blur
  int outer = 0;  ///< larger blur that is taken away from that one, brought to the same contrast; 0: is not
  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

struct Channel {
  Normalisation normalisation;
  DescriptorSettings descriptor;
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// Left eye in the picture, right eye, nose, corners of the mouth.
inline constexpr std::size_t kFacePoints = 5;
using FacePoints = std::array<Point, kFacePoints>;

/// Where they are brought to in a crop: symmetric about its middle, so that a mirrored face gives a mirrored
/// crop.
inline constexpr FacePoints kFaceTargets{{{39, 60}, {91, 60}, {65, 91.25}, {42, 117.75}, {88, 117.75}}};

/// A learned projection. Of roots x of the folded counts (kRootScale):
///
///     y[d] = ((sum over j of weights[d][j] * x[j] - bias[d]) * scale[d]) >> kProjectionShift
///     n = the square root of sum y[d]^2, rounded down
///     template[d] = y[d] * length / n, to the nearest integer, halves away from 0, clamped to -127..127;
///                   all 0 where n is 0
struct Projection {
  int dims = 0;                       ///< of a template, a multiple of 32
  int values = 0;                     ///< folded counts of all channels
  int length = 0;                     ///< of a template before it is clamped, 1..kLongestTemplate
  std::vector<std::int8_t> weights;   ///< [dims][values]
  std::vector<std::int32_t> bias;     ///< [dims]
  std::vector<std::uint16_t> scales;  ///< [dims]
};

/// x = root_of(count): kRootScale times the square root, to the nearest integer.
inline constexpr int kRootScale = 9;
inline constexpr int kLargestRootCount = 800;  ///< of a folded region; its root is 255
std::uint8_t root_of(int count);

inline constexpr int kProjectionShift = 18;
inline constexpr int kMostTemplateDims = 512;
inline constexpr int kLongestTemplate = 2047;
/// No sum of a projection reaches it, whatever is projected.
inline constexpr std::int64_t kProjectionLimit = std::int64_t{1} << 29;

/// How near pictures of different people were found to be: no more than a share of `rate` of pairs are as
/// near as `distance` or nearer.
struct StrangerRate {
  double rate = 0;
  std::uint32_t distance = 0;
  friend bool operator==(const StrangerRate&, const StrangerRate&) = default;
};

/// Immutable once loaded.
struct FaceModel {
  std::string name;  ///< of its file, for people
  FacePoints targets = kFaceTargets;
  std::vector<Channel> channels;
  /// A weight a folded region, in the order of the counts: [channel][circle][row][column]. Only of models
  /// without projection.
  std::vector<std::uint8_t> region_weights;
  std::optional<Projection> projection;
  std::vector<StrangerRate> strangers;  ///< rates rising, distances too; may be empty
  std::string provenance;               ///< how it was made, for people; may be empty
};

/// Columns of regions that are left when each is put together with the one that mirrors it.
int folded_columns(const Descriptor& descriptor);
/// Folded counts of one channel, and of all.
int folded_values(const Channel& channel);
int folded_values(const FaceModel& model);
/// What templates are and how they are compared.
TemplateFormat template_format(const FaceModel& model);
/// The largest distance that no more than this share of pairs of different people have, as far as the model
/// knows; between two known rates in proportion, below the least none.
std::optional<std::uint32_t> distance_of_strangers(const FaceModel& model, double rate);

/// MiB of a file unless asked otherwise (see model/size_limit.hpp).
inline constexpr int kMaxFaceModelSize = 64;
/// The text `kind` of the files.
inline constexpr std::string_view kFaceModelKind = "sightline-recognition";

/// Reads a model: a safetensors file. Arrays: `targets` F64 [5, 2]; `channels` I32 [C, 7] (inner, outer,
/// margin, region's width and height, step's width and height); `circles` F64 [N, 3] (channel, points,
/// radius); of a learned one `projection` I8 [dims, values], `bias` I32 [dims], `scales` I32 [dims], `length`
/// I32 [1], of another `region_weights` U8 [regions]; maybe `stranger_rates` F64 [K] and `stranger_distances`
/// I64 [K]. Texts: `kind`, `version` ("1"), and perhaps `provenance`. Throws Error (model): the file, the
/// place and the reason.
FaceModel load_face_model(const std::filesystem::path& file, std::uint64_t max_bytes);
/// Whether a file begins as one of them; false where it cannot be read.
bool looks_like_face_model(const std::filesystem::path& file);
/// The same of an open file; `path` stands for it in messages.
FaceModel read_face_model(const Safetensors& file, const std::filesystem::path& path);
/// What such a file holds. Throws std::invalid_argument where `read_face_model` would refuse it.
Safetensors container_of(const FaceModel& model);
/// Throws Error (failed) where the file cannot be written, and std::invalid_argument as container_of does.
void save_face_model(const FaceModel& model, const std::filesystem::path& file);

}  // namespace sightline::recognition
