#pragma once
/// Videos and slides of folders.

#include <string>
#include <vector>

namespace sightline::apps {

/// Videos of a folder, by name; those of its sub-folders behind its own. They are recognised by extension,
/// hidden ones do not count. Throws Error (input) if the folder cannot be listed.
std::vector<std::string> videos_in(const std::string& folder, bool recursive);

/// Pictures and slides of a folder, by name. Throws Error (input) if there are none.
std::vector<std::string> slides_in(const std::string& folder);

/// The inputs, with each folder that holds videos replaced by these, behind itself if it also holds pictures,
/// which are one input.
std::vector<std::string> with_videos(const std::vector<std::string>& inputs, bool recursive);

}  // namespace sightline::apps
