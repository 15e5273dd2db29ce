// Links of quarksmith.h that are made of others.
#include "interface/arrays.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/links.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

quarksmith_status quarksmith_smear_links(quarksmith_context* context, const char* smearing, const double* parameters,
                                         void* const* out, const void* const* in,
                                         const quarksmith_link_format* format) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    const std::string name = stated_name(require(smearing, "smearing"));
    const bool projects = name == "su3";
    const ActionInfo* const info = projects ? nullptr : &find_smearing(name);
    const LinkArrays arrays(c.lattice(), require_struct(format, "quarksmith_link_format"));
    std::map<std::string, double> values;
    if (!projects) {
      arrays.require_boundary({1, 1, 1, 1});
      if (format->eta[0] != format->eta[1]) refuse("the format names staggered phases; links are smeared as they are");
      for (const ActionParameter& p : info->parameters) {
        require(parameters, "parameters");
        const std::string parameter(p.name);
        values[parameter] = require_finite(parameters[values.size()], parameter);
      }
    }
    HostGauge host(c.lattice());
    arrays.read(c.device(), in, host);
    agree(std::string_view(smearing), values);
    check_unitarity(host, c.ranks());  // refuses numbers that are not finite
    const auto before = std::make_shared<const LinkField>(
        upload(host, c.shared->domain, find_precision("double"), full_storage(host.colours())));
    auto after = before;
    if (projects) {
      LinkField nearest(before->domain_pointer(), before->precision(), before->storage());
      evaluate("back_to_su3", {*before}, {nearest});
      after = std::make_shared<const LinkField>(std::move(nearest));
    } else {
      StatementFields fields(info->fields.size());
      fields[0] = before;
      LinkProgram(ActionValues(*info, values)).make(fields, ScratchFields());
      after = fields[std::size_t(smeared_field(*info))];
    }
    HostGauge made = download(*after);
    made.phase = host.phase;
    arrays.write(c.device(), made, out);
  });
}
