#pragma once
/// Outputs that are written last are checked first: nobody should wait for a result that cannot be kept.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "detection/result_writer.hpp"

namespace sightline::apps {

/// Throws Error (failed) where a file of that name could not be written: its folder is missing or not
/// writable, or the name is a folder's. Writes nothing. Empty names are no files.
void require_writable(const std::string& file);

/// Makes a folder, and those that lead to it, where it is not there. Throws Error (failed).
void make_folder(const std::filesystem::path& folder);

/// Throws Error (usage) where an output is the input itself, by whatever name. Empty names are no files.
void refuse_input(const std::string& input, const std::string& output);

/// Throws Error (usage) where an output is a file that exists: a run must not destroy an earlier one's
/// results unless it was told to (--overwrite). Empty names, "-", devices and pipes are no files.
void refuse_existing(const std::string& output);

/// Marks an option whose value is a file that the command writes: `add(...).checked_by(OutputFile())`. Such
/// an option is given once, and add_command refuses files that exist, unless --overwrite is given.
struct OutputFile {
  /// Endings of the names that such files have, for example ".json"; none: any.
  std::vector<std::string> endings = {};
  /// Throws Error (usage) for a name whose ending promises another known format: "page.pdf" for a page in
  /// HTML. Endings that promise nothing are taken.
  void operator()(const std::string& file) const;
};

/// Endings of files of detections, for OutputFile.
inline const std::vector<std::string> kDetectionsEndings{".jsonl", ".ndjson", ".json",
                                                         ".csv",   ".txt",    ".mot"};

/// Throws Error (usage) where two outputs are one file, by whatever names. Empty names are no files; any
/// number may go to /dev/null.
void refuse_same_outputs(const std::vector<std::string>& outputs);

/// Throws where a file that a command with these inputs would write is one of them, exists without
/// `overwrite`, cannot be written or is named twice, as the functions above. Empty names are no files.
void require_usable_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                            bool overwrite);

/// The format of a detections file: the given one, or by the file's extension, else jsonl. A warning says
/// where the name promises something else. Throws Error (usage) for an unknown format.
ResultFormat detections_format(const std::string& file, const std::string& given);

/// Writes a report whole (write_report), where a file is named for it, and says so; `make_text` is not called
/// where none is. Throws Error (failed).
void write_if_named(const std::string& file, const std::function<std::string()>& make_text);

}  // namespace sightline::apps
