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
    const auto before = std::make_shared<const LinkField>(arrays.read(c.shared->domain, in));
    agree(std::string_view(smearing), values);
    if (c.ranks().largest(arrays.are_sound(c.device(), in) ? 0 : 1) > 0 && !surely_su3(bound_of_deviation(*before)))
      check_unitarity(download(*before), c.ranks());  // says which is not finite
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
    arrays.write(*after, arrays.boundary(), out);
  });
}
