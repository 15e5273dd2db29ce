#include "solvers/actions/action_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/link_check.hpp"

namespace quarksmith {
namespace {

bool is_number(const ActionField& f) { return f.kind == "scalars" || f.kind == "phases"; }
bool is_spinor(const ActionField& f) { return !is_number(f) && f.kind != "links" && f.kind != "matrices"; }

}  // namespace

bool takes_term(const ActionInfo& info) {
  return info.has_hops() && info.chain.empty() && info.constant.empty() && info.spins == 4 &&
         info.apply_inverse.ends_with("_term") &&
         std::ranges::find(info.fields, given_term, &ActionField::name) == info.fields.end();
}

ActionFields::ActionFields(ActionValues values, GivenFields given, const LinkStore& links)
    : program_(std::move(values)), given_(std::move(given)), links_(links) {
  check();
}

void ActionFields::check() const {
  std::string takes;
  for (const ActionField& f : info().fields) {
    if (f.origin != Origin::given) continue;
    takes += fmt::format("{}{} ({})", takes.empty() ? "" : ", ", f.name, f.kind);
    const auto found = given_.find(f.name);
    if (found == given_.end())
      throw UsageError(fmt::format("action {} needs a field {} ({}), which was not given; give --field {}=FILE",
                                   option_name(info().name), f.name, f.kind, f.name));
    check(f.name, f.kind, *found->second);
  }
  for (const auto& [name, field] : given_) {
    const auto fields = info().fields;
    if (name == given_term && takes_term(info())) {
      check(name, given_term, *field);
      continue;
    }
    if (std::none_of(fields.begin(), fields.end(),
                     [&, n = std::string_view(name)](const ActionField& f) { return f.name == n; }))
      throw UsageError(fmt::format("action {} has no field {}; it takes {}", option_name(info().name), name,
                                   takes.empty() ? "none besides the links" : takes));
  }
  const bool other_links = std::any_of(info().fields.begin(), info().fields.end(), [](const ActionField& f) {
    return f.origin != Origin::gauge && !is_number(f) && (f.origin == Origin::given || !f.group.empty());
  });
  if ((other_links || term() != nullptr) && find_storage(links_.storage()).temporal)
    throw UsageError(
        fmt::format("links '{}': temporal gauge is for actions of the links of a configuration alone; {} "
                    "has other fields; use r12 or r18",
                    links_.storage(), option_name(info().name)));
}

void ActionFields::check(std::string_view name, std::string_view kind, const GivenField& field) const {
  if (field.kind != kind)
    throw UsageError(
        fmt::format("field {} of action {} is {}; it was given {}", name, option_name(info().name), kind, field.kind));
  if (links_.colours() != 3 && kind != "scalars" && kind != "phases")
    throw UsageError(fmt::format("field {} of action {}: fields of {} have three colours, the links have {}", name,
                                 option_name(info().name), kind, links_.colours()));
  if (!(field.links.lattice() == links_.domain()->lattice()))
    throw WrongLattice(fmt::format("field {} is {}, the links are {}; they must be equal", name,
                                   field.links.lattice().text(), links_.domain()->lattice().text()));
}

const GivenField* ActionFields::term() const {
  const auto found = given_.find(given_term);
  return found == given_.end() || !takes_term(info()) ? nullptr : found->second.get();
}

const StatementFields& ActionFields::in_double() const {
  std::string name = "fields of " + program_.text();
  for (const auto& [field, given] : given_) name += fmt::format(" {}={}", field, static_cast<const void*>(given.get()));
  return links_.derived<StatementFields>(name, [&] { return make(); });
}

StatementFields ActionFields::make() const {
  StatementFields fields(info().fields.size());
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const ActionField& f = info().fields[n];
    if (f.origin == Origin::gauge) fields[n] = links_.plain();
    if (f.origin != Origin::given || is_spinor(f)) continue;
    fields[n] = given_.find(f.name)->second->links.on(links_.domain());
  }
  const ScratchFields scratch;
  program_.make(fields, scratch);
  return fields;
}

bool ActionFields::holds(int field, const StorageInfo& storage) const {
  if (is_gauge(field) || info().fields[std::size_t(field)].origin == Origin::given) return true;
  const ActionField& f = info().fields[std::size_t(field)];
  return storage.group == "any" || storage.group == f.group || (storage.group == "U(3)" && f.group == "SU(3)");
}

std::shared_ptr<const LinkField> ActionFields::stored(int field, const PrecisionInfo& precision,
                                                      std::string_view storage, int depth) const {
  const ActionField& f = info().fields[std::size_t(field)];
  const PrecisionInfo& format = find_precision(precision.links);
  if (is_gauge(field) && depth == 1) return links_.store(format.name, storage);
  if (is_number(f)) {
    const auto& numbers = in_double()[std::size_t(field)];
    if (format.word_bytes == 8) return numbers;
    return std::make_shared<const LinkField>(encode_links(*numbers, format, full_storage(1)));
  }
  const StorageInfo& in = find_storage(storage);
  const GivenField* const given = f.origin == Origin::given ? given_.find(f.name)->second.get() : nullptr;
  // The host looks whether they are in a group, and does what the build has no kernels for.
  if (given != nullptr && ((in.group != "any" && !given->unitary) ||
                           !has_kernels(links_.domain()->device(), {"set_links", "matrices_norm2"})))
    return std::make_shared<const LinkField>(upload_scaled(given->links, links_.domain(), format, in, depth));
  if (!holds(field, in))
    throw UsageError(fmt::format("links '{}': {} of action {} {} matrices; use {}all reals", storage, f.name,
                                 option_name(info().name), f.group == "U(3)" ? "is a number times U(3):" : "is any",
                                 f.group == "U(3)" ? "r13, r9 or " : ""));
  if (depth == 1 && in.group == "any" && format.word_bytes == 8) return in_double()[std::size_t(field)];
  return std::make_shared<const LinkField>(encode_scaled(*in_double()[std::size_t(field)], format, in, depth));
}

SpinorField ActionFields::spinor(int field, const PrecisionInfo& precision) const {
  const ActionField& f = info().fields[std::size_t(field)];
  SpinorField high(links_.domain(), find_precision("double"), Subset::full, 1, {4, links_.colours()});
  upload(*given_.find(f.name)->second->spinor, high, links_.basis());
  if (precision.name == "double") return high;
  SpinorField low(links_.domain(), precision, Subset::full, 1, high.components());
  convert(high, low);
  return low;
}

LinkDeviation ActionFields::deviation(std::string_view storage) const {
  LinkDeviation most;
  for (const int length : {1, info().reach}) {
    const int field = hops(length);
    LinkDeviation found;
    if (is_gauge(field)) {
      found = links_.with(storage).deviation();
    } else if (length == info().reach && find_storage(storage).group != "any") {
      const auto made = stored(field, find_precision("double"), storage, info().reach);
      found = deviation_of(*made, *in_double()[std::size_t(field)]);
    }
    if (found.largest > most.largest) most = found;
  }
  return most;
}

}  // namespace quarksmith
