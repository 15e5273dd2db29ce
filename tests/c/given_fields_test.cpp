// Fields that quarksmith_gauge_field keeps are what actions take. No action that a build offers takes one: the table of
// improved staggered quarks stands for those of users.
#include "runs/action.hpp"
#include "runs/session.hpp"
#include "runtime/error.hpp"
#include "tests/c/support.hpp"

namespace {

TEST(CGivenFields, AreThoseThatAnActionTakes) {
  using namespace c;
  const HostGauge links = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 1);
  runs::Session session;
  const runs::Wording wording{.door = runs::Door::c, .subject = "operator", .file = ""};
  session.fields["mine"] = numbers_of(links);
  session.fields["short"].resize(5);
  const ActionInfo& info = find_action("improved_staggered");
  const GivenFields fields = runs::read_fields(info, {"fat=mine", "long=mine"}, links.lattice, session, wording);
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields.at("fat")->links.site, links.site);
  EXPECT_THROW(runs::read_fields(info, {"fat=mine", "long=short"}, links.lattice, session, wording), UsageError);
}

}  // namespace
