#include "detectors/more_families.hpp"

#include "detectors/registry.hpp"

namespace sightline {

namespace network {
const Family& family();
}  // namespace network

void add_more_families() {
  add_family(network::family());
}

}  // namespace sightline
