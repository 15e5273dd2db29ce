// DDalphaAMG: binary, little-endian, without checksums.
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

std::vector<GaugeHead> ddalphaamg_heads(const InputFile& file, const std::optional<Coordinates>&) {
  LinkLayout layout;
  layout.offset = plain_header_bytes;
  layout.big_endian = false;
  layout.link_order = {3, 2, 1, 0};
  GaugeHead head = plain_head(file, "DDalphaAMG", layout.link_order);
  head.read_links = link_reader(layout, nullptr);
  return {std::move(head)};
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat ddalphaamg = {{.title = "DDalphaAMG"}, looks_like_plain_binary, ddalphaamg_heads};
}

}  // namespace quarksmith
