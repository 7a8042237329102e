#include "faces/landmarks/marks.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/text_rows.hpp"

namespace sightline::landmarks {

std::vector<MarkedFace> load_marked_faces(const std::filesystem::path& file) {
  constexpr std::size_t kBoxField = 2, kPointsField = 6, kFields = kPointsField + kCoordinates;
  std::vector<MarkedFace> faces;
  text_rows::EmptyBoxes empty_boxes;
  text_rows::for_each_row(file, "marked points", [&](std::string_view text, const text_rows::Row& row) {
    const std::vector<std::string_view> fields = text_rows::split_at_blanks(text);
    if (fields.size() != kFields)
      row.refuse("a line has a picture's name, a part, four numbers of a box and ten of points");
    const auto number = [&](std::size_t i, const char* what) {
      return text_rows::number(fields[i], what, row);
    };
    MarkedFace face;
    face.picture = fields[0];
    face.part = fields[1];
    double edges[4];
    for (std::size_t i = 0; i < 4; ++i) edges[i] = number(kBoxField + i, "an edge of the box");
    face.box = {edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1]};
    for (std::size_t i = 0; i < kPoints; ++i) {
      face.points[i] = {number(kPointsField + 2 * i, "a point's x") + 0.5,
                        number(kPointsField + 2 * i + 1, "a point's y") + 0.5};
    }
    if (empty_boxes.has_area(face.box.width, face.box.height, row.place())) faces.push_back(std::move(face));
  });
  empty_boxes.report();
  return faces;
}

std::vector<MarkedFace> faces_of_part(std::vector<MarkedFace> faces, const std::string& part,
                                      const std::filesystem::path& file) {
  std::erase_if(faces, [&](const MarkedFace& face) { return face.part != part; });
  if (faces.empty()) {
    throw Error(ExitCode::input, "'" + file.string() + "' has no faces of part '" + part + "'",
                "the second word of a line is its part; choose one with --part"_message);
  }
  return faces;
}

training::FileImageSet pictures_of(const std::vector<MarkedFace>& faces,
                                   const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const MarkedFace& face : faces) names.push_back(face.picture);
  return training::pictures_named(names, folder);
}

}  // namespace sightline::landmarks
