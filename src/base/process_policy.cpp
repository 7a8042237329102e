#include "base/process_policy.hpp"

namespace sightline {
namespace {

ProcessPolicy policy_of_process;

}  // namespace

void set_process_policy(const ProcessPolicy& policy) {
  policy_of_process = policy;
}

const ProcessPolicy& process_policy() {
  return policy_of_process;
}

}  // namespace sightline
