#pragma once
// Clips made at test time, and their content.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "media/decoded_picture.hpp"
#include "media/reader.hpp"
#include "media/writer.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::media::test {

namespace fs = std::filesystem;
using sightline::test::expect_error;
using sightline::test::load;
using sightline::test::store;
using sightline::test::TempDir;

std::vector<Frame> read_all(Reader& reader);
std::vector<Frame> read_all(const std::string& input, const ReadOptions& options = {});

/// Two seconds of a test picture, as a filter graph: 50 frames of 128x96.
inline const std::string kClip = "testsrc=size=128x96:rate=25:duration=2,format=yuv420p";

StreamInfo info_of(Size size, int rate = 25);
/// Every pixel of one value.
Frame gray_frame(Size size, int value, double time = 0, std::int64_t number = 1);

/// Encodes what a filter graph generates. Returns the number of frames.
std::int64_t make_clip(const std::string& path, const std::string& graph, WriteOptions options = {},
                       bool sound = false);

/// Encodes with the program ffmpeg. Returns the file's path.
/// @param input    options and input, for example {"-f", "lavfi", "-i", GRAPH}
/// @param options  before the file's name
std::string encode_clip(const TempDir& folder, const std::vector<std::string>& input,
                        const std::vector<std::string>& options, const std::string& name);

/// Mean absolute difference of all pixels; 1e9 if the sizes differ.
double mean_difference(GrayView a, GrayView b);
double mean_difference(const Frame& a, const Frame& b);
double mean(GrayView a);

}  // namespace sightline::media::test
