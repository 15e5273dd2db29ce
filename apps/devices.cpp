// quarksmith devices: what can run here.
#include <fmt/format.h>

#include <set>

#include "apps/options.hpp"

namespace quarksmith::apps {
namespace {

int run(const CommonOptions& o) {
  std::vector<std::shared_ptr<Device>> found = {Device::cpu()};
  for (int i = 0; i < Device::cuda_devices(); ++i) found.push_back(Device::cuda(i));
  nlohmann::ordered_json list;
  for (const auto& device : found) {
    const auto [tuned, stale] = device->tuned();
    const std::string tuning = tuned == 0   ? "not tuned: declared defaults"
                               : stale == 0 ? fmt::format("{} tuned", tuned)
                                            : fmt::format("{} tuned, {} of them changed since", tuned, stale);
    fmt::print("{:<8} {}; {} kernels, {}\n", device->name(), device->description(), device->kernels().size(), tuning);
    list.push_back({{"name", device->name()},
                    {"description", device->description()},
                    {"kernels", device->kernels().size()},
                    {"tuned", tuned},
                    {"stale", stale}});
  }
  if (found.size() == 1) fmt::print("no GPU is in use: none was found, or this build has no CUDA kernels\n");
  o.write_json({{"devices", list}});
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, int& status) {
  auto o = std::make_shared<CommonOptions>();
  CLI::App* c = app.add_subcommand("devices", "What can run here");
  o->add_to(*c);
  c->callback([o, &status] { status = run(*o); });
}

}  // namespace quarksmith::apps
