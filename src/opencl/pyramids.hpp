#pragma once
/// Image pyramids on an OpenCL device, in the two arithmetics of src/image: kernels/image/octaves.cl (the
/// fixed-point octave pyramid of image/pyramid.hpp) and kernels/image/resample.cl (image/resample.hpp).
/// Results equal the CPU's bit for bit.
///
/// A program is built once per device; an object has the kernels, the tables and the work lists of one frame
/// in flight. Thread-safety: one thread at a time, as for a kernel. `plan` depends on the frame's size,
/// `plan_rows` on the wanted part of the frame; both wait for small uploads. `enqueue` does not wait and
/// passes every launch's event to `launched`. All may throw DeviceError, and Error (failed) where memory is
/// too large for the kernels' indices.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "image/pyramid.hpp"
#include "image/resample.hpp"
#include "opencl/program.hpp"
#include "opencl/work_list.hpp"

namespace sightline::opencl {

using Launched = std::function<void(Event)>;

/// Rows [begin, end) of a level's image; none where `end` is not above `begin`.
struct ImageRows {
  int begin = 0;
  int end = 0;
};

// Mirrors `Octave` in kernels/image/octaves.cl: where an octave lies in its buffer, in bytes.
struct Octave {
  cl_int offset, stride, width, height;
};

/// Makes octaves 1, 2, ... out of octave 0, at most six a launch of `halve`, the kernel of that name. `table`
/// holds `places` on the device; offsets and strides are multiples of 64.
void enqueue_octaves(Queue& queue, Kernel& halve, const Buffer& octaves, const Buffer& table,
                     const std::vector<Octave>& places, const Launched& launched);

/// The frame, halved again and again, and levels resized from these octaves, with a border of one replicated
/// pixel all round (PaddedImage).
class OctavePyramid {
 public:
  /// Throws DeviceError. `cache` may be null.
  static Program build(const Context& context, ProgramCache* cache);

  OctavePyramid() = default;
  /// @param program  of `build`; must outlive the object
  explicit OctavePyramid(const Program& program);

  struct Level {
    const Resizer* resizer = nullptr;  ///< resizer from its octave; null: unused level
    int octave = 0;                    ///< 0: the frame
    Size size;                         ///< pixels, without the border
    std::int64_t first_pixel = 0;      ///< first pixel of the interior, in bytes from the images' start
    int stride = 0;                    ///< bytes from row to row of the level's image; 0: it has none
  };
  /// @param octaves  sizes of all octaves, the frame's first
  void plan(Queue& queue, std::span<const Size> octaves, std::span<const Level> levels);
  /// @param rows  of each level's image that are wanted; the border is made with them
  void plan_rows(Queue& queue, std::span<const ImageRows> rows);

  /// Size of the buffer of all octaves. It starts with the frame's luma, frame_stride() bytes a row.
  std::int64_t octave_bytes() const { return octave_bytes_; }
  int frame_stride() const { return places_.empty() ? 0 : places_[0].stride; }

  void enqueue(Queue& queue, const Buffer& octaves, const Buffer& images, const Launched& launched);
  /// The octaves alone.
  void enqueue_octaves(Queue& queue, const Buffer& octaves, const Launched& launched);

  /// For kernels that resize pixels themselves (kernels/image/octaves.clh): a `ResizedLevel` for each level
  /// with a resizer, and their tables.
  const Buffer& levels() const { return levels_; }
  const Buffer& tables() const { return tables_; }

 private:
  std::vector<Octave> places_;
  std::int64_t octave_bytes_ = 0;
  std::vector<Size> sizes_;  ///< sizes of the levels
  Buffer octave_table_, levels_, tables_;
  WorkList tiles_;
  Kernel halve_, resize_;
};

/// Levels that are all resampled from the same source.
class ResampledPyramid {
 public:
  /// Throws DeviceError. `cache` may be null.
  static Program build(const Context& context, ProgramCache* cache);

  ResampledPyramid() = default;
  /// @param program  of `build`; must outlive the object
  explicit ResampledPyramid(const Program& program);

  struct Level {
    const SamplePlan* samples = nullptr;
    Size size;                     ///< pixels
    std::int64_t first_pixel = 0;  ///< bytes from the images' start
    int stride = 0;                ///< bytes; a multiple of 4, up to which rows are written
  };
  void plan(Queue& queue, std::span<const Level> levels);
  /// @param rows  of each level's image that are wanted
  void plan_rows(Queue& queue, std::span<const ImageRows> rows);

  /// @param source         8-bit pixels, [y][x]
  /// @param source_stride  bytes from row to row
  void enqueue(Queue& queue, const Buffer& source, int source_stride, const Buffer& images,
               const Launched& launched);

 private:
  std::vector<Size> sizes_;  ///< sizes of the levels
  Buffer levels_, tables_;
  WorkList tiles_;
  Kernel resample_;
};

}  // namespace sightline::opencl
