#pragma once
/// Writes what was found, frame by frame, in one of five file formats.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "processing/frame_result.hpp"

namespace sightline {

/// The formats a detections file can have. In all of them boxes are in pixels of the frame, origin 0,0 at the
/// top left, rounded to 2 decimals; scores have 4 decimals, times (seconds) 6. A number that is not finite is
/// `null` in JSON and `nan` in CSV and MOT. A picture has neither a number (FrameResult::frame is 0) nor a
/// time (it is not finite): they are `null` in JSON and empty in CSV.
enum class ResultFormat {
  /// JSON lines: one object a frame, on a line of its own:
  /// `{"source":..,"frame":..,"time":..,"status":"ok","width":..,"height":..,
  ///   "objects":[{"label":..,"score":..,"confidence":..,"box":[x,y,width,height]}]}`, the confidence where
  ///   the
  ///   model is calibrated (ScoreCalibration); what is known of an object besides follows its box,
  ///   `"name":"Ann","distance":0.41,"landmarks":{"left_eye":[x,y]}`; a tracked object ends
  ///   in `"track":7`, a picture out of a folder has `"picture":"name.jpg"` after its source, `"message"`
  ///   follows where status is not ok. Where a run turns between settings, the one that searched the frame
  ///   stands before its objects, `"setting":"25 filters, step 1.1"`.
  jsonl,
  /// One JSON document, `{"frames":[...]}`, with the objects of `jsonl`.
  json,
  /// RFC 4180 with a header and lines that end in LF: one row an object; a frame without objects has one row
  /// whose object columns are empty, so that every frame appears. The last columns, `track`, `name`,
  /// `distance` and `confidence`, are always there and empty where objects are not tracked, not recognised,
  /// or of a
  /// model that is not calibrated. Where
  /// a run turns between settings, `setting` follows, as in `jsonl`: a file of another run has the columns
  /// that it always had. There is no room for landmarks.
  csv,
  /// MOTChallenge: `frame,track,x,y,width,height,score,-1,-1,-1`, -1 for the track where objects are not
  /// tracked. Frames count from 1. The format has no room for labels, names, landmarks, for frames without
  /// objects, nor for a
  /// second source: a second source is an error.
  mot,
  /// One document with the `images`, `categories` and `annotations` of the COCO format; an annotation has a
  /// `score` as in COCO results, and a `track_id` where it is tracked. Ids count from 1; category n is label
  /// n - 1. An image's `file_name` is `source#frame`, or the picture's name, its `setting` as
  /// in `jsonl`. Name and distance are an annotation's `attributes`;
  /// landmarks are its `keypoints`, whose names are those of the category's first object that has any: a
  /// landmark of another name is left out, and one that is missing is 0,0,0.
  coco,
};

/// "jsonl", "json", "csv", "mot" or "coco".
const char* to_string(ResultFormat format);

/// The names of all formats.
std::vector<std::string_view> result_format_names();

/// The format of that name (see to_string). Throws Error(usage) that lists the choices for any other name.
ResultFormat parse_result_format(std::string_view name);

/// The format that a file's name suggests: `.jsonl`, `.ndjson`, `.json`, `.csv`, `.txt` and `.mot` (MOT),
/// `.coco.json`; "-" (standard output) gives jsonl; nothing where the name says nothing. Case does not
/// matter.
std::optional<ResultFormat> guess_result_format(const std::filesystem::path& path);

/// Writes frames to a file or to standard output in the order they come.
///
/// Every `write` hands whole lines to the operating system before it returns, so a reader of a pipe sees each
/// frame at once, and a full disk or a closed pipe is noticed at the frame that meets it (SIGPIPE is held
/// back from the process while writing). Memory does not grow with the number of frames: the COCO format,
/// which wants its two long lists one after the other, keeps the second in an unnamed temporary file until
/// `finish`. An existing file is overwritten. Text that is not UTF-8 (a file name) has U+FFFD in place of the
/// bad bytes in the JSON formats and goes unchanged into CSV.
///
/// Thread-safety: none; use from one thread at a time.
class ResultWriter {
 public:
  /// @param path    where to write; "-" is standard output
  /// @param labels        names of the labels; `Detection::label` is an index into it
  /// @param has_settings  whether the run turns between settings
  /// Throws Error(failed), with the path and the system's reason, where the file cannot be written.
  static std::unique_ptr<ResultWriter> open(const std::filesystem::path& path, ResultFormat format,
                                            std::vector<std::string> labels, bool has_settings = false);

  /// Finishes the file where `finish` has not been called; a failure there is logged, not thrown.
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  /// Writes one frame. Throws Error(done) where standard output is a pipe that its reader has closed;
  /// Error(failed) where the output cannot take it, where a label has no name, or after `finish`;
  /// Error(usage) where the format cannot hold the frame (a second source in MOT).
  void write(const FrameResult& result);

  /// Completes the document and closes the file. Throws Error(failed) where that fails, or where a `write`
  /// has failed before. Further calls do nothing.
  void finish();

  class Output;  ///< destination of the bytes; private to the implementation
  class Format;  ///< how a frame is put; private to the implementation

  /// For `open` alone: nobody else can make these parts.
  ResultWriter(std::unique_ptr<Output> output, std::unique_ptr<Format> format);

 private:
  template <typename Work>
  void guard(const Work& work);

  std::unique_ptr<Output> output_;
  std::unique_ptr<Format> format_;
  bool finished_ = false;
  bool failed_ = false;  ///< the output has refused something: no second attempt
};

}  // namespace sightline
