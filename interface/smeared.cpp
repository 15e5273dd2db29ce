// Links of quarksmith.h that are made of others.
#include "interface/arrays.hpp"
#include "solvers/hmc/links.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

quarksmith_status quarksmith_smear_links(quarksmith_context* context, const char* smearing, const double* parameters,
                                         void* const* out, const void* const* in,
                                         const quarksmith_link_format* format) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    const ActionInfo& info = find_smearing(stated_name(require(smearing, "smearing")));
    const LinkArrays arrays(c.lattice(), require_struct(format, "quarksmith_link_format"));
    arrays.require_boundary({1, 1, 1, 1});
    if (format->eta[0] != format->eta[1]) refuse("the format names staggered phases; links are smeared as they are");
    std::map<std::string, double> values;
    for (const ActionParameter& p : info.parameters) {
      require(parameters, "parameters");
      const std::string name(p.name);
      values[name] = require_finite(parameters[values.size()], name);
    }
    HostGauge host(c.lattice());
    arrays.read(c.device(), in, host);
    agree(std::string_view(smearing), values);
    const LinkProgram program(ActionValues(info, values));
    StatementFields fields(info.fields.size());
    fields[0] = std::make_shared<const LinkField>(
        upload(host, c.shared->domain, find_precision("double"), full_storage(host.colours())));
    program.make(fields, ScratchFields());
    HostGauge made = download(*fields[std::size_t(smeared_field(info))]);
    made.phase = host.phase;
    arrays.write(c.device(), made, out);
  });
}
