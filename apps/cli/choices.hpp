#pragma once
/// The values that options take, where they can be listed.

#include "apps/cli/option_set.hpp"

namespace sightline::apps {

/// Possible values of an option: the accepted ones if it checks them, otherwise the suggested ones;
/// else a text is a file's name.
Choices choices_of(const CLI::Option& option, const Suggestions& suggestions);

/// Suggestions of some options, by purpose. Some look at the machine.
Choices config_choices();
Choices model_choices();
Choices device_choices();
Choices schedule_choices();
Choices several_schedule_choices();  ///< separated by commas
Choices instruction_set_choices();
Choices drop_policy_choices();
Choices format_choices();  ///< of detections
Choices encoder_choices();
Choices preset_choices();
Choices decoder_choices();

}  // namespace sightline::apps
