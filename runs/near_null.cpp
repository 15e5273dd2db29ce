#include "runs/near_null.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/near_null_file.hpp"

namespace quarksmith::runs {
namespace {

/// What a file states of the operator whose near-null vectors it holds.
Provenance near_null_provenance(const ActionChoice& choice, const HostGauge& gauge, Session& session) {
  Provenance all = choice.provenance;
  all["gauge_digest"] = gauge_digest(gauge, session);
  return all;
}

}  // namespace

void NearNullDescription::list(Members& members) { list(members, "", {}); }

void NearNullDescription::list(Members& members, const std::string& where,
                               const std::function<std::string()>& unless_used) {
  auto add = members.of(*this);
  add("mg_load", load, "near-null vectors that multigrid begins with, in place of noise: FILE of mg-save")
      .path()
      .only(where, unless_used);
  add("mg_refresh", refresh,
      "those of mg-load may be of other links or parameters on this lattice: they are adapted to these first")
      .only(where, unless_used);
  add("mg_save", save, "write the near-null vectors of multigrid to this file (HDF5)").path().only(where, unless_used);
}

void NearNullDescription::check() {
  if (refresh && load.empty())
    throw UsageError(
        fmt::format("{} belongs to {} FILE; add it, or leave it out", called("mg_refresh"), called("mg_load")));
  if (!load.empty() && !std::filesystem::exists(load))
    throw UsageError(
        fmt::format("{} {}: there is no such file; name one of {}", called("mg_load"), load, called("mg_save")));
}

std::shared_ptr<const NearNullVectors> NearNullDescription::read(const ActionChoice& choice, const GaugeLinks& gauge,
                                                                 const DomainPointer& domain,
                                                                 const SolveSettings& settings,
                                                                 Session& session) const {
  if (load.empty()) return nullptr;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{} {}: {}", called("mg_load"), load, why));
  };
  if (!is_hdf5(load)) refuse("is no file of " + called("mg_save"));
  session.reading("mg_load", load);
  const PropagatorReader file(load, session.ranks(), true);
  const auto found = file.provenance().find("operator");
  if (found == file.provenance().end() || found->second != ProvenanceValue(near_null_operator))
    refuse("its vectors are no near-null vectors; name a file of --mg-save");
  if (file.extent() != gauge.lattice().global_extent()) refuse("near-null vectors on another lattice");
  bool other = false;
  for (const auto& [key, value] : wanted_of(near_null_provenance(choice, gauge, session), file.provenance())) {
    const auto there = file.provenance().find(key);
    if (there != file.provenance().end() && there->second == value) continue;
    other = true;
    const std::string stated =
        there == file.provenance().end() ? "not stated" : "'" + quarksmith::text_of(there->second) + "'";
    if (!refresh)
      refuse(
          fmt::format("near-null vectors of another operator ({} is {}, here '{}'); add {}, which adapts "
                      "them to this one",
                      key, stated, quarksmith::text_of(value), called("mg_refresh")));
  }
  SolveSettings plain = settings;
  plain.precision = "double";
  plain.method = Method::gcr;
  const Solver like(choice.action, gauge, domain, plain);
  return std::make_shared<NearNullVectors>(
      NearNullVectors{read_near_null(file, load, like.dirac().matrix(), like.basis()), other});
}

void NearNullDescription::write(const Solver& solver, const ActionChoice& choice, const NamedGauge& named,
                                Session& session) const {
  if (save.empty()) return;
  const std::optional<SpinorField> vectors = solver.near_null_vectors();
  if (!vectors) return;
  PropagatorHeader header(near_null_provenance(choice, named.gauge, session));
  header.remarks = {{"gauge", named.origin}, {"program_version", QUARKSMITH_VERSION}, {"basis", "degrand_rossi"}};
  write_near_null(save, *vectors, solver.basis(), header, session.overwrite, session.ranks());
  session.info(fmt::format("wrote {}", save));
}

}  // namespace quarksmith::runs
