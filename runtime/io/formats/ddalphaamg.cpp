// DDalphaAMG: binary, little-endian, without checksums.
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

GaugeHead ddalphaamg_head(const InputFile& file, const std::optional<Coordinates>&) {
  LinkLayout layout;
  layout.offset = plain_header_bytes;
  layout.big_endian = false;
  layout.link_order = {3, 2, 1, 0};
  GaugeHead head = plain_head(file, "DDalphaAMG", layout.link_order);
  head.read_links = link_reader(layout, nullptr);
  return head;
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat ddalphaamg = {{.title = "DDalphaAMG"}, looks_like_plain_binary, ddalphaamg_head};
}

}  // namespace quarksmith
