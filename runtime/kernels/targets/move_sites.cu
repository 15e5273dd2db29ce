// Copies of sites on GPUs, into the memory of peers too.
#include "runtime/kernels/targets/sites_cuda.hpp"

namespace quarksmith::cuda {
namespace {

constexpr int threads = 256;

__device__ long long place(const StoredSites& f, int slot, int piece) {
  return (static_cast<long long>(slot / f.row) * f.pieces + piece) * f.row + slot % f.row;
}

/// A thread copies a piece: sites that lie side by side are copied side by side.
template <class Piece>
__global__ void copy_pieces(SiteMove m) {
  const long long number = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
  const int piece = static_cast<int>(number / m.count);
  if (piece >= m.to.pieces) return;
  const SitePair pair = m.pairs[number - static_cast<long long>(piece) * m.count];
  const int rhs = blockIdx.y;
  Piece* to = reinterpret_cast<Piece*>(m.to.data + rhs * m.to.rhs_bytes);
  const Piece* from = reinterpret_cast<const Piece*>(m.from.data + rhs * m.from.rhs_bytes);
  to[place(m.to, pair.to, piece)] = from[place(m.from, pair.from, piece)];
  if (piece == 0 && m.to.norm != nullptr)
    m.to.norm[rhs * m.to.norm_rhs_stride + pair.to] = m.from.norm[rhs * m.from.norm_rhs_stride + pair.from];
}

}  // namespace

void move_sites(const SiteMove& move, cudaStream_t stream) {
  if (move.count == 0) return;
  const long long pieces = static_cast<long long>(move.count) * move.to.pieces;
  const dim3 blocks(static_cast<unsigned>((pieces + threads - 1) / threads), static_cast<unsigned>(move.to.rhs));
  switch (move.to.piece_bytes) {
    case 16:
      return copy_pieces<uint4><<<blocks, threads, 0, stream>>>(move);
    case 8:
      return copy_pieces<uint2><<<blocks, threads, 0, stream>>>(move);
    case 4:
      return copy_pieces<unsigned><<<blocks, threads, 0, stream>>>(move);
    case 2:
      return copy_pieces<unsigned short><<<blocks, threads, 0, stream>>>(move);
    default:
      return copy_pieces<unsigned char><<<blocks, threads, 0, stream>>>(move);
  }
}

}  // namespace quarksmith::cuda
