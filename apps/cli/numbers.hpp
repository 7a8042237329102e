#pragma once
/// Checks of numbers on the command line, with the messages for refused ones.

#include <string>

#include "params/options.hpp"

namespace CLI {
class Validator;
}

namespace sightline::apps {

/// Refuses what is no number of an option's kind, within its range or of its sign, and says what would be one
/// and what of: "'abc' is not a whole number from 1 to 64 (frames worked on at once)". CLI11's own words name
/// the option alone where a text is no number, call 2.5 outside of a range of whole numbers that it lies in,
/// and have the largest number there is in all of its digits. No number ("nan") is in any range.
/// T: int, std::int64_t, std::uint64_t or double.
template <typename T>
CLI::Validator number_check(const Option& option);

/// Reads times as people write them, "0:10", "1:02:03.5", "2s", "1m30s", "500ms", and leaves their seconds as
/// a number. Another text stays as it is.
CLI::Validator time_reader();

}  // namespace sightline::apps
