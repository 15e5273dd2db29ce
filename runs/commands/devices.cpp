// quarksmith devices: what can run here, how it is joined, and what communication takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/rank_times.hpp"
#include "runs/topology.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"
#include "runtime/processors.hpp"

namespace quarksmith::runs {
namespace {

struct DevicesDescription : Description {
  bool measure = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("measure", measure, "time stores, messages and sums between ranks");
  }
};

/// Where a rank runs; records that ranks send to each other.
struct Place {
  char host[64], device[16], address[32], processors[128], nodes[64];
  int gpu_node, processor_count;
  bool gpu, on_gpu_node;
};

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  text.copy(to, N - 1);
}

Place place_of(const Device& device) {
  Place p{};
  const std::vector<int> processors = bound_processors(), nodes = numa_nodes_of(processors);
  put(p.host, host_name());
  put(p.device, device.name());
  put(p.address, device.identity().pci_address);
  put(p.processors, ranges_text(processors));
  put(p.nodes, ranges_text(nodes));
  p.processor_count = static_cast<int>(processors.size());
  p.gpu = device.asynchronous();
  p.gpu_node = p.gpu ? numa_node_of(p.address) : -1;
  p.on_gpu_node = p.gpu_node < 0 || nodes.empty() || std::find(nodes.begin(), nodes.end(), p.gpu_node) != nodes.end();
  return p;
}

class Devices {
 public:
  Devices(DevicesDescription& o, Session& session) : o_(o), session_(session), ranks_(session.ranks()) {}

  void operator()() {
    if (ranks_.rank() == 0) list_devices();
    if (ranks_.size() > 1) {
      several_ranks();
    } else {
      one_rank();
    }
    report(session_, json_);
  }

 private:
  /// A line of rank 0, whose standard output alone is open.
  void print_line(const std::string& line) { session_.print(line + "\n"); }

  void list_devices() {
    std::vector<std::shared_ptr<Device>> found;
    if (session_.device == "auto") {
      for (const Target* target : targets())
        for (int i = 0; i < target->devices(); ++i) found.push_back(target->open(i));
    } else {
      found.push_back(Device::select(session_.device));
    }
    for (const auto& device : found) {
      const Device::Tuned& t = device->tuned();
      std::string tuning = t.kernels == 0 ? "not tuned: declared defaults" : fmt::format("{} tuned", t.kernels);
      if (t.kernels > 0 && t.on != device->identity().evidence.at("device")) tuning += " on " + t.on;
      print_line(fmt::format("{:<8} {}; {} kernels, {}", device->name(), device->description(),
                             device->kernels().size(), tuning));
      json_["devices"].push_back({{"name", device->name()},
                                  {"description", device->description()},
                                  {"kernels", device->kernels().size()},
                                  {"tuned", t.kernels},
                                  {"tuned_on", t.on},
                                  {"stale", t.stale}});
      if (!device->identity().pci_address.empty()) gpus_.push_back(device);
    }
    if (gpus_.empty()) print_line("no GPU is in use: none was found, or this build has no kernels for any");
    const std::string mpi = Communicator::library();
    json_["mpi"] = mpi;
    print_line(mpi.empty() ? "MPI: this library was built without; one process is all it can use" : "MPI: " + mpi);
    list_pairs();
  }

  /// Links between the GPUs that this process sees.
  void list_pairs() {
    if (gpus_.size() < 2) return;
    std::string why;
    const int count = static_cast<int>(gpus_.size());
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) {
        const Device &one = *gpus_[a], &other = *gpus_[b];
        const bool reach = one.reaches(other) && other.reaches(one);
        all_reach_ = all_reach_ && reach;
        const std::string way = one.link(one.identity().pci_address, other.identity().pci_address, why);
        print_line(fmt::format("{} - {}: {}; they {} each other's memory", one.name(), other.name(), way,
                               reach ? "reach" : "cannot reach"));
        json_["gpu_pairs"].push_back({{"gpus", {a, b}}, {"link", way}, {"peer_access", reach}});
      }
    if (!why.empty()) print_line(fmt::format("links between GPUs: unknown: {}", why));
  }

  /// Links between the GPUs of ranks of this host that see one each.
  void list_links(const Device& device, const std::vector<Place>& places) {
    if (!places[0].gpu) return;
    std::string why;
    for (std::size_t a = 0; a < places.size(); ++a)
      for (std::size_t b = a + 1; b < places.size(); ++b)
        if (std::string(places[a].host) == places[0].host && std::string(places[b].host) == places[0].host)
          print_line(
              fmt::format("rank {} - rank {}: {}", a, b, device.link(places[a].address, places[b].address, why)));
    if (!why.empty()) print_line(fmt::format("links between GPUs: unknown: {}", why));
  }

  void one_rank() {
    const std::vector<int> processors = bound_processors();
    print_line(fmt::format("host {}: processors {}, NUMA node(s) {}", host_name(), ranges_text(processors),
                           ranges_text(numa_nodes_of(processors))));
    json_["host"] = {{"name", host_name()}, {"processors", processors}, {"numa_nodes", numa_nodes_of(processors)}};
    for (const auto& gpu : gpus_) {
      const std::string address = gpu->identity().pci_address;
      print_line(fmt::format("{} at {}, NUMA node {}", gpu->name(), address, numa_node_of(address)));
    }
    if (gpus_.size() > 1)
      print_line(all_reach_ ? "a rank on each GPU can use policy fused: all reach each other's memory"
                            : "ranks on these GPUs use policy overlap: not all reach each other's memory");
    print_line("one rank: policies and times between ranks are shown by `mpirun -n N quarksmith devices --measure`");
  }

  void several_ranks() {
    const std::shared_ptr<Device> device = session_.open_device();
    const int count = ranks_.size();
    const Place mine = place_of(*device);
    std::vector<Place> places(count);
    ranks_.all_gather(&mine, sizeof(mine), places.data());
    show_places(places);
    if (ranks_.rank() == 0 && gpus_.size() < 2) list_links(*device, places);
    const Lattice local({4, 4, 4, 4 * count}, {1, 1, 1, count}, {0, 0, 0, ranks_.rank()});
    const auto domain = std::make_shared<Domain>(local, device, session_.all_ranks());
    show_policies(*domain);
    if (o_.measure) measure(domain);
  }

  void show_places(const std::vector<Place>& places) {
    print_line(fmt::format("{:<5} {:<16} {:<7} {:<13} {:>8}  {:<16} {}", "rank", "host", "device", "address",
                           "its node", "processors", "their NUMA nodes"));
    std::map<std::pair<std::string, std::string>, std::vector<int>> gpus, processors;
    std::vector<std::string> warnings;
    for (int n = 0; n < static_cast<int>(places.size()); ++n) {
      const Place& p = places[n];
      const std::string node = p.gpu && p.gpu_node >= 0 ? std::to_string(p.gpu_node) : "-";
      print_line(fmt::format("{:<5} {:<16} {:<7} {:<13} {:>8}  {:<16} {}", n, p.host, p.device, p.gpu ? p.address : "-",
                             node, p.processors, p.nodes));
      json_["ranks"].push_back({{"host", p.host},
                                {"device", p.device},
                                {"address", p.address},
                                {"gpu_numa_node", p.gpu_node},
                                {"processors", p.processors},
                                {"numa_nodes", p.nodes}});
      if (!p.on_gpu_node)
        warnings.push_back(fmt::format("rank {} may run on NUMA node(s) {}, but its GPU is on node {}: bind it there",
                                       n, p.nodes, node));
      if (p.gpu) gpus[{p.host, p.address}].push_back(n);
      processors[{p.host, p.processors}].push_back(n);
    }
    for (const auto& [key, shared] : gpus)
      if (shared.size() > 1)
        warnings.push_back(fmt::format("ranks {} share the GPU at {} of {}: start as many ranks as GPUs",
                                       fmt::join(shared, ", "), key.second, key.first));
    for (const auto& [key, shared] : processors)
      if (static_cast<int>(shared.size()) > places[shared[0]].processor_count)
        warnings.push_back(fmt::format("ranks {} share {} processor(s), {} of {}: give each its own",
                                       fmt::join(shared, ", "), places[shared[0]].processor_count, key.second,
                                       key.first));
    for (const std::string& line : warnings) print_line("binding: " + line);
    json_["warnings"] = warnings;
  }

  void show_policies(const Domain& domain) {
    Halos& halos = domain.halos();
    if (!session_.policy.empty()) halos.use(policy_of(session_.policy));
    for (int n = 0; n < policy_count; ++n) {
      const Policy policy = Policy(n);
      const std::string refusal = halos.refusal(policy);
      const std::string text = policy == halos.policy() ? "used" : refusal.empty() ? "possible" : refusal;
      print_line(refusal.empty() ? fmt::format("policy {}: {}", name_of(policy), text) : refusal);
      json_["policies"][std::string(name_of(policy))] = text;
    }
  }

  void measure(const DomainPointer& domain) {
    LinkBench bench(domain);
    print_line(bench.staged()                    ? "messages go through host memory: this MPI is not GPU-aware"
               : domain->device().asynchronous() ? "messages go from GPU to GPU: this MPI is GPU-aware"
                                                 : "messages go from memory to memory");
    json_["messages_by_way_of_host"] = bench.staged();
    print_line(fmt::format("{:<22} {:>11} {:>12} {:>14}", "ranks", "stores GB/s", "messages us", "messages GB/s"));
    constexpr int most = 16;  // ranks of which all pairs are measured
    const int count = ranks_.size();
    for (int a = 0; a < (count > most ? 1 : count); ++a)
      for (int b = a + 1; b < count; ++b) row(bench, fmt::format("{} and {}", a, b), bench.pair(a, b), true);
    const int each = static_cast<int>(ranks_.host_ranks().size());
    const bool alike = ranks_.largest(each) == each && ranks_.largest(-each) == -each, several = each < count;
    const LinkBench::MessageTime on_host = each > 1 || !several
                                               ? row(bench, "all, next on the host", bench.ring_of_host(), true)
                                               : LinkBench::MessageTime{0, 0};
    const AllReduceTime sum = time_all_reduce(domain, 0.2);
    print_line(fmt::format("all-reduce of {} number(s) in a kernel: {:.2f} us", sum.numbers, 1e6 * sum.seconds));
    json_["all_reduce_us"] = 1e6 * sum.seconds;
    std::string line = "quarksmith model";
    if (bench.reachable())  // what stores and counters in each other's memory take
      line += link_text("--link", stores_, std::max(sum.seconds, 0.0));
    else if (on_host.bytes_per_second > 0)
      line += link_text("--link", on_host.bytes_per_second, on_host.latency);
    if (several && ranks_.sum(double(!alike)) > 0) {
      print_line("hosts hold different numbers of ranks: the network is not measured");
    } else if (several) {
      const auto network = row(bench, "all, to the next host", bench.shift(each), false);
      line += link_text("--network", network.bytes_per_second, network.latency);
      line += fmt::format(" --ranks-per-host {}", each);
    }
    print_line("for the model: " + line);
    json_["model"] = line;
  }

  static std::string link_text(const std::string& option, double bytes_per_second, double latency) {
    return fmt::format(" {} {:.4g},{:.3g}", option, 1e-9 * bytes_per_second, 1e6 * latency);
  }

  /// Measures and prints one line.
  LinkBench::MessageTime row(LinkBench& bench, const std::string& who, const LinkBench::Route& route, bool stores) {
    std::string text = "-";
    Json j = {{"ranks", who}};
    if (stores && bench.reachable()) {
      stores_ = bench.stores(route);
      text = fmt::format("{:.2f}", 1e-9 * stores_);
      j["stores_gbytes_per_second"] = 1e-9 * stores_;
    }
    const auto m = bench.messages(route);
    print_line(fmt::format("{:<22} {:>11} {:>12.2f} {:>14.2f}", who, text, 1e6 * m.latency, 1e-9 * m.bytes_per_second));
    j["message_us"] = 1e6 * m.latency;
    j["message_gbytes_per_second"] = 1e-9 * m.bytes_per_second;
    json_["times"].push_back(j);
    return m;
  }

  DevicesDescription& o_;
  Session& session_;
  Communicator& ranks_;
  Json json_;
  std::vector<std::shared_ptr<Device>> gpus_;  ///< that this process sees
  bool all_reach_ = true;
  double stores_ = 0;  ///< of the last route
};

void run(DevicesDescription& o, Session& session) {
  session.claim({});
  if (session.ranks().size() == 1) {
    constexpr const char* why = "belongs to several ranks (mpirun); leave it out";
    session.refuse_given({"grid", "policy"}, why);
    o.refuse_given({"measure"}, why);
  }
  Devices(o, session)();
}

}  // namespace

namespace commands {
extern constinit const Command devices = {
    .name = "devices",
    .help = "List the devices of this machine, and how they and the ranks are connected",
    .place = 200,
    .uses = Session::computes | Session::shares | Session::crosses | Session::reports,
    .make = task<DevicesDescription>};
}

}  // namespace quarksmith::runs
