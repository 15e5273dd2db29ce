#include "apps/near_null_options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "apps/contraction.hpp"
#include "runtime/error.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/near_null_file.hpp"

namespace quarksmith::apps {
namespace {

/// What a file states of the operator whose near-null vectors it holds.
Provenance near_null_provenance(const ActionChoice& choice, const HostGauge& gauge, const CommonOptions& common) {
  Provenance all = choice.provenance;
  all["gauge_digest"] = gauge_digest(gauge, common);
  return all;
}

}  // namespace

void NearNullOptions::add_to(CLI::App& c) {
  c.add_option("--mg-load", load, "near-null vectors that multigrid begins with, in place of noise: FILE of --mg-save");
  c.add_flag("--mg-refresh", refresh,
             "those of --mg-load may be of other links or parameters on this lattice: they are adapted to these first");
  c.add_option("--mg-save", save, "write the near-null vectors of multigrid to this file (HDF5)");
}

void NearNullOptions::check() const {
  if (refresh && load.empty()) throw UsageError("--mg-refresh belongs to --mg-load FILE; add it, or leave it out");
  if (!load.empty() && !std::filesystem::exists(load))
    throw UsageError(fmt::format("--mg-load {}: there is no such file; name one of --mg-save", load));
}

std::shared_ptr<const NearNullVectors> NearNullOptions::read(const ActionChoice& choice, const HostGauge& gauge,
                                                             const DomainPointer& domain, const SolveSettings& settings,
                                                             const CommonOptions& common) const {
  if (load.empty()) return nullptr;
  const auto refuse = [&](const std::string& why) { throw UsageError(fmt::format("--mg-load {}: {}", load, why)); };
  if (!is_hdf5(load)) refuse("is no file of --mg-save");
  const PropagatorReader file(load, common.ranks(), true);
  const auto found = file.provenance().find("operator");
  if (found == file.provenance().end() || found->second != ProvenanceValue(near_null_operator))
    refuse("its vectors are no near-null vectors; name a file of --mg-save");
  if (file.extent() != gauge.lattice.global_extent()) refuse("near-null vectors on another lattice");
  bool other = false;
  for (const auto& [key, value] : near_null_provenance(choice, gauge, common)) {
    const auto there = file.provenance().find(key);
    if (there != file.provenance().end() && there->second == value) continue;
    other = true;
    const std::string stated =
        there == file.provenance().end() ? "not stated" : "'" + quarksmith::text_of(there->second) + "'";
    if (!refresh)
      refuse(
          fmt::format("near-null vectors of another operator ({} is {}, here '{}'); add --mg-refresh, which adapts "
                      "them to this one",
                      key, stated, quarksmith::text_of(value)));
  }
  SolveSettings plain = settings;
  plain.precision = "double";
  plain.method = Method::gcr;
  const Solver like(choice.action, gauge, domain, plain);
  return std::make_shared<NearNullVectors>(
      NearNullVectors{read_near_null(file, load, like.dirac().matrix(), like.basis()), other});
}

void NearNullOptions::write(const Solver& solver, const ActionChoice& choice, const NamedGauge& named,
                            const CommonOptions& common) const {
  if (save.empty()) return;
  const std::optional<SpinorField> vectors = solver.near_null_vectors();
  if (!vectors) return;
  PropagatorHeader header(near_null_provenance(choice, named.gauge, common));
  header.remarks = {{"gauge", named.origin}, {"program_version", QUARKSMITH_VERSION}, {"basis", "degrand_rossi"}};
  write_near_null(save, *vectors, solver.basis(), header, common.overwrite, common.ranks());
  common.info(fmt::format("wrote {}", save));
}

}  // namespace quarksmith::apps
