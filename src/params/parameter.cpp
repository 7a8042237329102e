#include "params/parameter.hpp"

namespace sightline {

Option ParameterInfo::make_option(Option::Target target) const {
  Option made(option, target, meaning);
  made.sign = sign;
  if (shows_range) made.between(range.lowest, range.highest);
  if (alias) made.alias(alias);
  if (suggested) made.suggest(suggested);
  return made;
}

}  // namespace sightline
