/// \file
/// The links of a configuration wherever they are.
#pragma once

#include <memory>
#include <optional>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Links on the host or on a device; where both have needed them, on both. Copies are the same links.
class GaugeLinks {
 public:
  GaugeLinks(HostGauge links);
  /// \param links with all reals in double, meant to be in SU(N).
  explicit GaugeLinks(std::shared_ptr<const LinkField> links,
                      const std::array<Complex64, directions>& phase = {1, 1, 1, 1});

  const Lattice& lattice() const { return kept_->lattice; }
  int colours() const { return kept_->colours; }
  /// That of HostGauge.
  const std::array<Complex64, directions>& phase() const { return kept_->phase; }
  /// Whether they have been needed on the host: links of a device are then there, too.
  bool on_host() const { return kept_->host != nullptr; }
  /// The links of a device; null if they are of the host.
  const std::shared_ptr<const LinkField>& of_device() const { return kept_->links; }
  const HostGauge& host() const;
  operator const HostGauge&() const { return host(); }
  /// For kernels of a domain, with all reals in double; those of the host are copied at each call.
  std::shared_ptr<const LinkField> on(const DomainPointer& domain) const;
  /// bound_of_deviation of links of a device, which is found once; infinite for those of the host. Collective.
  double bound() const;

 private:
  struct Kept {
    Lattice lattice;
    int colours;
    std::array<Complex64, directions> phase;
    std::shared_ptr<const LinkField> links = nullptr;
    std::unique_ptr<const HostGauge> host = nullptr;
    std::optional<double> bound = std::nullopt;
  };
  std::shared_ptr<Kept> kept_;
};

/// As the functions of HostGauge, where the links are.
std::string_view default_links(const GaugeLinks& links, Communicator& communicator);
bool is_multiple_of_unitary(const GaugeLinks& links, Communicator& communicator);

}  // namespace quarksmith
