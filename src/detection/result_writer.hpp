#pragma once
/// Writer of detections, frame by frame, in one of five file formats.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detection/track_counter.hpp"
#include "frame/frame_result.hpp"

namespace sightline {

/// Formats of a detections file. In all of them boxes are in pixels of the frame, origin (0, 0) at the top
/// left, rounded to 2 decimals. Scores have 4 decimals; times, in seconds, have 6. A non-finite number is
/// `null` in JSON and `nan` in CSV and MOT. A picture has no frame number (FrameResult::frame is 0) and no
/// time (not finite); both are `null` in JSON and empty in CSV.
enum class ResultFormat {
  /// JSON lines, one object per frame:
  /// `{"source":..,"frame":..,"time":..,"status":"ok","width":..,"height":..,
  ///   "objects":[{"label":..,"score":..,"confidence":..,"box":[x,y,width,height]}]}`
  /// Optional keys:
  ///   - `confidence`: if the model is calibrated (ScoreCalibration).
  ///   - Other attributes after the box: `"name":"Ann","distance":0.41,"landmarks":{"left_eye":[x,y]}`.
  ///   - `"track":7`, last, for tracked objects.
  ///   - `"picture":"name.jpg"` after the source, for pictures of a folder.
  ///   - `"message"` after a status other than ok.
  ///   - `"setting":"25 filters, step 1.1"` before the objects: operating point used, if the run changes it.
  ///   - `"events":[{"line":"door","event":"in","label":"person","track":7}]` after the objects, if a
  ///     track crosses a line (`in`, `out`), or enters or leaves a zone (`"zone":"yard"`; `entered`,
  ///     `left`, `dwell`).
  ///   - `"digest":"..."`, 32 hexadecimal digits, where a digest was asked for.
  jsonl,
  /// One JSON document, `{"frames":[...]}`, with the objects of `jsonl`.
  json,
  /// RFC 4180 with a header and LF line ends, one row per object. A frame without objects has one row with
  /// empty object columns. The last columns are `track`, `name`, `distance` and `confidence`, always present
  /// and empty if not
  /// available. If the run changes operating points, a column `setting` follows, as in `jsonl`. Landmarks are
  /// not written.
  csv,
  /// MOTChallenge: `frame,track,x,y,width,height,score,-1,-1,-1`; track is -1 for untracked objects. Frames
  /// count from 1. The format holds no labels, names, landmarks or frames without objects, and only one
  /// source: a second one is an error.
  mot,
  /// COCO: one document with `images`, `categories` and `annotations`. An annotation has a `score` as in COCO
  /// results, and a `track_id` if it is tracked. Ids count from 1; category n is label n - 1. An image's
  /// `file_name` is `source#frame`, or the picture's name; its `setting` is as in `jsonl`. Name and distance
  /// are in an annotation's `attributes`, landmarks in its `keypoints`. Keypoint names are those of the
  /// category's first object with landmarks: landmarks of other names are left out, and missing ones are
  /// 0,0,0.
  coco,
};

/// "jsonl", "json", "csv", "mot" or "coco".
const char* to_string(ResultFormat format);

/// Names of all formats, as `to_string` gives them.
std::vector<std::string_view> result_format_names();

/// Format with the given name (see to_string). Throws Error (usage), with the choices, for any other name.
ResultFormat parse_result_format(std::string_view name);

/// Format that a file name suggests: `.jsonl`, `.ndjson`, `.json`, `.csv`, `.txt` and `.mot` (MOT),
/// `.coco.json`; "-" (standard output) gives jsonl; none for other names. Ignores case.
std::optional<ResultFormat> guess_result_format(const std::filesystem::path& path);

/// Facts of a frame that are computed from its result. Only the formats `jsonl` and `json` hold them.
struct ResultNotes {
  std::string digest = {};                  ///< of the objects; empty: none
  const TrackCounter* counter = nullptr;    ///< whose events these are; null: nothing is counted
  std::span<const CountEvent> events = {};  ///< of this frame
};

/// A frame as a line of `jsonl`, without the line end. Throws Error (failed) for an object without a label.
std::string json_line(const FrameResult& result, const std::vector<std::string>& labels,
                      const ResultNotes& notes = {});

/// Writer of frames to a file or to standard output, in the order of the calls.
///
/// Every `write` passes whole lines to the operating system before it returns. A reader of a pipe therefore
/// sees each frame at once, and a full disk or a closed pipe is reported for the frame that meets it. SIGPIPE
/// is suppressed while writing. Memory does not grow with the number of frames: COCO has two long lists one
/// after the other, so the second is kept in an unnamed temporary file until `finish`. An existing file is
/// overwritten. In text that is not UTF-8 (a file name), the JSON formats replace invalid bytes by U+FFFD;
/// CSV keeps them.
///
/// Thread-safety: none; use from one thread at a time.
class ResultWriter {
 public:
  /// @param path          output file; "-" is standard output
  /// @param labels        names of the labels; `Detection::label` is an index into it
  /// @param has_settings  whether the run changes operating points
  /// Throws Error (failed), with the path and the system's reason, if the file cannot be written.
  static std::unique_ptr<ResultWriter> open(const std::filesystem::path& path, ResultFormat format,
                                            std::vector<std::string> labels, bool has_settings = false);

  /// Finishes the file unless `finish` was called; a failure is logged, not thrown.
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  /// Writes one frame. Throws
  ///   - Error (done) if standard output is a pipe that its reader has closed;
  ///   - Error (failed) if the output cannot be written, if a label has no name, or after `finish`;
  ///   - Error (usage) if the format cannot hold the frame (a second source in MOT).
  void write(const FrameResult& result, const ResultNotes& notes = {});

  /// Completes the document and closes the file. Throws Error (failed) if that fails, or if an earlier
  /// `write` failed. Further calls do nothing.
  void finish();

  class Output;  ///< destination of the bytes; private to the implementation
  class Format;  ///< encoding of a frame; private to the implementation

  /// For `open` only: these types are private to the implementation.
  ResultWriter(std::unique_ptr<Output> output, std::unique_ptr<Format> format);

 private:
  template <typename Work>
  void guard(const Work& work);

  std::unique_ptr<Output> output_;
  std::unique_ptr<Format> format_;
  bool finished_ = false;
  bool failed_ = false;  ///< a write failed: no second attempt
};

}  // namespace sightline
