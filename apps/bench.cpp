// quarksmith bench: every kernel of the build against the roofline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/options.hpp"
#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "runtime/random.hpp"
#include "solvers/clover.hpp"

namespace quarksmith::apps {
namespace {

struct BenchOptions {
  CommonOptions common;
  std::string lattice = "16,16,16,16", filter;
  std::filesystem::path csv;
  int rhs = 0;
  double seconds = 0.5;
  bool rotate = false;
};

/// One measured kernel.
struct Row {
  const Kernel* kernel;
  int rhs = 1;
  double seconds = 0;  ///< a launch
  double gflops = 0, gbytes = 0, fraction = 0;
};

/// Median seconds of one call of `work`: warmed up, then samples of enough calls each to fill `budget` in all.
double time_of(Device& device, const std::function<void(int)>& work, double budget) {
  int call = 0;
  const auto burst = [&](int calls) {
    return device.time([&] {
      for (int i = 0; i < calls; ++i) work(call++);
    });
  };
  burst(3);
  int calls = 1;
  double seconds = burst(calls);
  while (seconds < 0.01 && calls < 1 << 20) seconds = burst(calls *= 2);
  std::vector<double> samples;
  constexpr int most = 9;
  const int each = std::max(1, static_cast<int>(calls * budget / most / seconds));
  for (int n = 0; n < most; ++n) samples.push_back(burst(each) / each);
  std::nth_element(samples.begin(), samples.begin() + most / 2, samples.end());
  return samples[most / 2];
}

/// Bytes a second of a copy, read and written bytes counted, well beyond the caches.
double copy_bandwidth(const std::shared_ptr<Device>& device) {
  const std::size_t bytes = std::size_t(1) << (device->short_vectors() ? 31 : 29);
  Memory from(device, bytes), to(device, bytes);
  device->fill(from.data(), 1, bytes);
  device->fill(to.data(), 0, bytes);
  if (!device->short_vectors()) {
    // On the CPU the copy runs on all threads, as the kernels do.
    auto* in = static_cast<const double*>(from.data());
    auto* out = static_cast<double*>(to.data());
    const long long n = static_cast<long long>(bytes / sizeof(double));
    const double seconds = time_of(
        *device,
        [&](int) {
#pragma omp parallel for schedule(static)
          for (long long i = 0; i < n; ++i) out[i] = in[i];
        },
        1.0);
    return 2.0 * bytes / seconds;
  }
  const double seconds = time_of(*device, [&](int) { device->copy(to.data(), from.data(), bytes); }, 0.5);
  return 2.0 * bytes / seconds;
}

/// Fields that hold random numbers, never zeros.
class Fields {
 public:
  Fields(DomainPointer domain, const HostGauge& gauge)
      : domain_(std::move(domain)), gauge_(&gauge), psi_(gauge.lattice) {
    for (std::size_t i = 0; i < psi_.site.size(); ++i) {
      Random random({17, 0}, static_cast<unsigned>(i));
      for (Complex64& z : psi_.site[i]) {
        const double re = 2 * random.uniform() - 1;
        z = {re, 2 * random.uniform() - 1};
      }
    }
  }

  SpinorField spinor(std::string_view precision, Subset subset, int rhs, int spins = 4) {
    SpinorField field(domain_, find_precision(precision), subset, rhs, spins);
    if (rhs == 1 || precision == "double") {
      for (int r = 0; r < rhs; ++r) upload(psi_, field, find_basis("degrand_rossi"), r);
    } else {
      SpinorField wide(domain_, find_precision("double"), subset, rhs, spins);
      for (int r = 0; r < rhs; ++r) upload(psi_, wide, find_basis("degrand_rossi"), r);
      convert(wide, field);
    }
    return field;
  }
  const LinkField& links(std::string_view precision, std::string_view storage) {
    const auto key = std::pair(std::string(precision), std::string(storage));
    auto found = links_.find(key);
    if (found == links_.end()) {
      links_.clear();  // one at a time: large lattices fill the memory
      const StorageInfo& kind = find_storage(storage);
      const HostGauge fixed = kind.temporal ? fix_temporal_gauge(*gauge_).gauge : *gauge_;
      found = links_.emplace(key, upload(fixed, domain_, find_precision(precision), kind)).first;
    }
    return found->second;
  }
  /// A clover term: its values do not matter to the time, but that they are no zeros does.
  const TermField& term(std::string_view precision) {
    auto found = terms_.find(precision);
    if (found == terms_.end()) {
      const CloverTerm clover(links("double", "r18"), 1.0, 1.0, 4.5, find_precision(precision));
      found = terms_.emplace(precision, encode_term(decode_term(clover.term()), find_precision(precision))).first;
    }
    return found->second;
  }
  const DomainPointer& domain() const { return domain_; }

 private:
  DomainPointer domain_;
  const HostGauge* gauge_;
  HostSpinor psi_;
  std::map<std::string, TermField, std::less<>> terms_;
  std::map<std::pair<std::string, std::string>, LinkField> links_;
};

/// Buffers to rotate over, so that each call meets cold data: at least `bytes` in all.
int buffers_for(double field_bytes, bool rotate) {
  constexpr double beyond_cache = 400e6;
  return rotate ? std::clamp(static_cast<int>(std::ceil(beyond_cache / field_bytes)), 2, 64) : 1;
}

bool reads_term(const Kernel& kernel) { return kernel.epilogue != "none" && kernel.epilogue != "axpby"; }

Row time_hopping(const Kernel& kernel, Fields& fields, const BenchOptions& o) {
  Row row{&kernel, o.rhs > 0 ? o.rhs : kernel.tile};
  const double field_bytes = kernel.spins * find_precision(kernel.precision).spin_words *
                             find_precision(kernel.precision).word_bytes * double(row.rhs) *
                             fields.domain()->lattice().half_sites();
  const int buffers = buffers_for(2 * field_bytes, o.rotate);
  std::vector<SpinorField> in, out;
  for (int n = 0; n < buffers; ++n) {
    in.push_back(fields.spinor(kernel.precision, Subset::odd, row.rhs, kernel.spins));
    out.push_back(fields.spinor(kernel.precision, Subset::even, row.rhs, kernel.spins));
  }
  const SpinorField x = fields.spinor(kernel.precision, Subset::even, row.rhs, kernel.spins);
  Arguments a = arguments_for(*fields.domain(), x.lanes(), row.rhs);
  const std::string_view link_precision = find_precision(kernel.precision).links;
  if (reads_term(kernel)) a.term = fields.term(link_precision).operand();
  a.links = fields.links(link_precision, kernel.links).operand();
  a.x = x.operand(Parity::even);
  a.a.re = 0.5;
  a.b.re = -0.25;
  for (int mu = 0; mu < directions; ++mu) {
    a.hops.bulk[mu] = 1;
    a.hops.edge_re[mu] = mu == 3 ? -1 : 1;
  }
  Device& device = fields.domain()->device();
  row.seconds = time_of(
      device,
      [&](int call) {
        a.in = in[call % buffers].operand(Parity::odd);
        a.out = out[call % buffers].operand(Parity::even);
        device.run(kernel, a);
      },
      o.seconds);
  return row;
}

Row time_update(const Kernel& kernel, Fields& fields, const BenchOptions& o) {
  Row row{&kernel, std::max(o.rhs, 1)};
  std::vector<SpinorField> f;
  for (int n = 0; n < 4; ++n) f.push_back(fields.spinor(kernel.precision, Subset::even, row.rhs));
  Arguments a = arguments_for(*fields.domain(), f[0].lanes(), row.rhs);
  a.count = f[0].count();
  a.x = f[0].operand(), a.y = f[1].operand(), a.z = f[2].operand(), a.w = f[3].operand();
  a.a = {0.5, 0.1};
  a.b = {0.3, -0.2};
  row.seconds = time_of(fields.domain()->device(), [&](int) { fields.domain()->device().run(kernel, a); }, o.seconds);
  return row;
}

Row time_gauge(const Kernel& kernel, Fields& fields, const BenchOptions& o) {
  Row row{&kernel};
  const LinkField& links = fields.links(kernel.precision, kernel.links);
  Arguments a = arguments_for(*fields.domain(), links.lanes());
  a.links = links.operand();
  a.a.re = 6.0;
  row.seconds = time_of(
      fields.domain()->device(),
      [&](int call) {
        a.random = {1, static_cast<unsigned long long>(call)};
        fields.domain()->device().run(kernel, a);
      },
      o.seconds);
  return row;
}

Row time_term(const Kernel& kernel, Fields& fields, const BenchOptions& o) {
  Row row{&kernel};
  const std::string_view precision = find_precision(kernel.precision).links;
  const TermField& term = fields.term(precision);
  const TermField made(fields.domain(), find_precision(precision));
  const SpinorField x = fields.spinor(kernel.precision, Subset::even, 1);
  const SpinorField out = x.like();
  Arguments a = arguments_for(*fields.domain(), term.lanes());
  a.term = term.operand();
  a.x = x.operand(Parity::even);
  a.out = kernel.operation == "apply_term" ? out.operand(Parity::even) : made.operand();
  if (!kernel.links.empty()) a.links = fields.links(precision, kernel.links).operand();
  a.a.re = a.b.re = 1;
  a.c.re = 4.5;
  row.seconds = time_of(fields.domain()->device(), [&](int) { fields.domain()->device().run(kernel, a); }, o.seconds);
  return row;
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows, double copy, const BenchOptions& o, const Device& device) {
  nlohmann::ordered_json j = {{"device", device.description()},
                              {"lattice", four_integers(o.lattice, "--lattice")},
                              {"copy_bytes_per_second", copy},
                              {"rotating_buffers", o.rotate}};
  for (const Row& r : rows)
    j["kernels"].push_back({{"name", r.kernel->name},
                            {"rhs", r.rhs},
                            {"microseconds", r.seconds * 1e6},
                            {"gflops", r.gflops},
                            {"gbytes_per_second", r.gbytes},
                            {"fraction_of_copy", r.fraction}});
  return j;
}

int run(const BenchOptions& o) {
  const Lattice lattice(four_integers(o.lattice, "--lattice"));
  const auto device = o.common.open_device();
  const auto domain = std::make_shared<Domain>(lattice, device);
  std::vector<const Kernel*> chosen;
  for (const Kernel& k : device->kernels())
    if (k.name.find(o.filter) != std::string_view::npos && k.family != "convert" && (o.rhs <= 0 || o.rhs % k.tile == 0))
      chosen.push_back(&k);
  if (chosen.empty())
    throw UsageError(fmt::format("--only {}: no kernel of this build has that in its name", o.filter));
  const HostGauge gauge = hot_gauge(lattice, 1);
  Fields fields(domain, gauge);
  const double copy = copy_bandwidth(device);
  fmt::print("{}; {}; copy {:.2f} GB/s; {}\n", device->description(), lattice.text(), copy * 1e-9,
             o.rotate ? "rotating buffers" : "same buffers");
  fmt::print("{:<46} {:>3} {:>11} {:>9} {:>9} {:>7}\n", "kernel", "rhs", "us", "GFLOP/s", "GB/s", "of copy");
  std::stable_sort(chosen.begin(), chosen.end(), [](const Kernel* a, const Kernel* b) {
    return std::pair(a->precision, a->links) < std::pair(b->precision, b->links);  // each link field is made once
  });
  std::vector<Row> rows;
  for (const Kernel* k : chosen) {
    Row row = k->family == "hopping" ? time_hopping(*k, fields, o)
              : k->family == "gauge" ? time_gauge(*k, fields, o)
              : k->family == "term"  ? time_term(*k, fields, o)
                                     : time_update(*k, fields, o);
    const double sites = double(lattice.half_sites()) * row.rhs;
    row.gflops = k->flops * sites / row.seconds * 1e-9;
    row.gbytes = k->bytes * sites / row.seconds * 1e-9;
    row.fraction = row.gbytes * 1e9 / copy;
    fmt::print("{:<46} {:>3} {:>11.2f} {:>9.1f} {:>9.1f} {:>6.1f}%\n", k->name, row.rhs, row.seconds * 1e6, row.gflops,
               row.gbytes, 100 * row.fraction);
    std::fflush(stdout);
    rows.push_back(row);
  }
  o.common.write_json(to_json(rows, copy, o, *device));
  if (!o.csv.empty()) {
    std::string text = "kernel,rhs,microseconds,gflops,gbytes_per_second,fraction_of_copy\n";
    for (const Row& r : rows)
      text += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", r.kernel->name, r.rhs, r.seconds * 1e6, r.gflops,
                          r.gbytes, r.fraction);
    write_text(o.csv, text);
  }
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App* c = app.add_subcommand("bench", "Time the kernels of this build against the copy bandwidth");
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T")->capture_default_str();
  c->add_option("--only", o->filter, "kernels with this text in their name");
  c->add_option("--rhs", o->rhs, "right-hand sides (default: the tile of each kernel)");
  c->add_option("--seconds", o->seconds, "time spent on each kernel")->capture_default_str();
  c->add_flag("--rotate", o->rotate, "rotate over buffers larger than any cache");
  c->add_option("--csv", o->csv, "write the table to this file");
  o->common.add_to(*c);
  c->callback([o, &status] { status = run(*o); });
}

}  // namespace quarksmith::apps
