// Fields that quarksmith_gauge_field keeps are what actions take. No action that a build offers takes one: the table of
// improved staggered quarks stands for those of users.
#include <algorithm>

#include "runs/action.hpp"
#include "runs/session.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"

extern "C" int given_fields_are_read();

int given_fields_are_read() {
  using namespace quarksmith;
  const HostGauge links = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 1);
  const auto all = built_actions();
  const auto info = std::find_if(all.begin(), all.end(), [](const auto& a) { return a.name == "improved_staggered"; });
  if (info == all.end()) return 0;
  runs::Session session;
  const runs::Wording wording{.door = runs::Door::c, .subject = "operator", .file = ""};
  const Complex64* first = links.site.at(0);
  session.fields["mine"].assign(first, first + links.site.size() * links.site.each());
  session.fields["short"].resize(5);
  const GivenFields fields = runs::read_fields(*info, {"fat=mine", "long=mine"}, links.lattice, session, wording);
  if (fields.size() != 2 || !(fields.at("fat")->links.site == links.site)) return 0;
  try {
    runs::read_fields(*info, {"fat=mine", "long=short"}, links.lattice, session, wording);
    return 0;
  } catch (const UsageError& e) {
    return std::string(e.what()) == "field short has 5 numbers, matrices on 4x4x4x4 are 9216; give as many";
  }
}
