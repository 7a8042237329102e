#pragma once
/// Textures of pictures, folders and files of results, with the names that they go by.

#include <string>
#include <vector>

#include "apps/texture/texture_options.hpp"
#include "texture/record.hpp"

namespace sightline::apps {

struct NamedTexture {
  std::string name;  ///< of the folder in the folder that was named, else of the picture, without its ending
  texture::TextureRecord record;
};

/// A picture of a known texture.
struct KnownPicture {
  std::string name;  ///< as NamedTexture::name
  std::string file;
};

/// The picture, the pictures of a folder, or those of its sub-folders. Throws Error (input) if it is not
/// there or a folder has none.
std::vector<KnownPicture> list_known_pictures(const std::string& input);

/// Reads lists of pictures, folders of pictures or of folders of pictures, and files that `sightline texture
/// --output FILE.json` has written. What pictures are to be described by is taken from the first record
/// in such a file, of any of the lists, where the user says nothing else. All of a list's are in the order
/// in which they were named. Says what is damaged (report_damage). Throws Error (usage, input, device).
std::vector<std::vector<NamedTexture>> load_textures(const std::vector<std::vector<std::string>>& lists,
                                                     TextureOptions options, int verbosity);

}  // namespace sightline::apps
