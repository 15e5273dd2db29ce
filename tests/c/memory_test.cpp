// Arrays in the memory of a GPU, the caller's stream and pool. Such arrays give the bits that those of the host give.
#include <map>

#include "runtime/device.hpp"
#include "tests/c/support.hpp"
#include "tests/support.hpp"

namespace {

using namespace c;

const Coordinates memory_extent = {4, 4, 2, 8};

/// Numbers in memory of a device that the caller has allocated.
class Elsewhere {
 public:
  Elsewhere(std::shared_ptr<Device> device, const Numbers& numbers)
      : device_(std::move(device)), memory_(device_, numbers.size() * sizeof(Complex64)) {
    device_->upload(memory_.data(), numbers.data(), memory_.bytes());
  }
  void* data() const { return memory_.data(); }
  Numbers numbers() const {
    Numbers all(memory_.bytes() / sizeof(Complex64));
    device_->synchronize();
    device_->download(all.data(), memory_.data(), memory_.bytes());
    return all;
  }

 private:
  std::shared_ptr<Device> device_;
  Memory memory_;
};

class MemoryOfTheCaller : public OnDevice {
 protected:
  Context context = open(GetParam(), memory_extent);
  std::shared_ptr<Device> device = Device::select(GetParam());
  HostGauge links = hot_gauge(Lattice(memory_extent), 17);
  std::size_t count = 12 * links.site.size();
  const std::string how = "action=clover mass=0.2 csw=1.2";
};

TEST_P(MemoryOfTheCaller, HoldsSourcesAndSolutions) {
  const Gauge gauge = load(context, links);
  const Solver solver = make_solver(gauge, how + " tol=1e-9");
  const std::vector<Numbers> b = {random_numbers(count, 1), random_numbers(count, 2)};
  const Solved expected = solve(solver, b);
  std::vector<Elsewhere> given, made;
  std::vector<void*> to;
  std::vector<const void*> from;
  for (const Numbers& one : b) {
    from.push_back(given.emplace_back(device, one).data());
    to.push_back(made.emplace_back(device, Numbers(count)).data());
  }
  const quarksmith_spinor_format format = spinor_format();
  EXPECT_DONE(quarksmith_solve(solver, 2, to.data(), from.data(), &format, nullptr));
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(made[n].numbers(), expected.x[n]);
    EXPECT_EQ(given[n].numbers(), b[n]);
  }
}

TEST_P(MemoryOfTheCaller, HoldsArraysOfEveryOrder) {
  const Field field = make_field(context, "basis=non_relativistic sites=odd precision=single");
  Numbers psi(count);  // numbers in single as well as in double
  auto* const floats = reinterpret_cast<float*>(psi.data());
  const Numbers drawn = random_numbers(2 * count, 3);
  for (std::size_t n = 0; n < 4 * count; ++n) floats[n] = float(n % 2 != 0 ? drawn[n / 2].imag() : drawn[n / 2].real());
  for (int n = 0; n < 16; ++n) {
    SCOPED_TRACE(n);
    quarksmith_spinor_format f = spinor_format();
    f.precision = n & 1;
    f.sites = n >> 1 & 1;
    f.order = n >> 2 & 1;
    f.half = n >> 3 & 1;
    f.basis = "ukqcd";
    Numbers out = psi;
    EXPECT_DONE(quarksmith_field_set(field, 0, psi.data(), &f));
    EXPECT_DONE(quarksmith_field_get(field, 0, out.data(), &f));
    const Elsewhere from(device, psi), to(device, psi);
    EXPECT_DONE(quarksmith_field_set(field, 0, from.data(), &f));
    EXPECT_DONE(quarksmith_field_get(field, 0, to.data(), &f));
    EXPECT_EQ(to.numbers(), out);
    EXPECT_EQ(out != psi, f.precision == QUARKSMITH_DOUBLE) << "rounded to single";
  }
}

/// Into gauge fields and dynamics, and back; what stands between the sites stays.
TEST_P(MemoryOfTheCaller, HoldsLinksOfEveryOrder) {
  const Gauge gauge = load(context, links);
  Handle<quarksmith_dynamics> dynamics;
  EXPECT_DONE(quarksmith_dynamics_create(gauge, dynamics.out()));
  double expected[3], plaquette[3];
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, expected));
  for (int n = 0; n < 64; ++n) {
    SCOPED_TRACE(n);
    quarksmith_link_format f = link_format();
    f.precision = n & 1;
    f.sites = n >> 1 & 1;
    f.order = n >> 2 & 1;
    f.colour = n >> 3 & 1;
    if (n >> 4 & 1) f.eta[0] = 3, f.eta[1] = 0, f.eta[2] = 1, f.eta[3] = 2;
    const std::size_t each = f.order == QUARKSMITH_DIRECTION_MAJOR ? 9 : 36, apart = n >> 5 & 1 ? 5 : 0;
    if (apart > 0) f.stride = (each + apart) * (f.precision == QUARKSMITH_SINGLE ? 8 : 16);
    std::vector<Numbers> host(4, Numbers((each + apart) * links.site.size(), 7.0));
    EXPECT_DONE(quarksmith_gauge_get(gauge, outputs(host).data(), &f));
    std::vector<Elsewhere> there, back;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const Numbers& one : host) {
      from.push_back(there.emplace_back(device, one).data());
      to.push_back(back.emplace_back(device, Numbers(one.size(), 7.0)).data());
    }
    // What is not written of an array is 7 in both.
    const auto expect_back = [&] {
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(back[k].numbers(), host[k]) << k;
        EXPECT_EQ(there[k].numbers(), host[k]) << k;
      }
    };
    Gauge again;
    EXPECT_DONE(quarksmith_gauge_load(context, from.data(), &f, again.out()));
    EXPECT_DONE(quarksmith_gauge_get(again, to.data(), &f));
    expect_back();
    EXPECT_DONE(quarksmith_gauge_plaquette(again, plaquette));
    EXPECT_NEAR(plaquette[0], expected[0], f.precision == QUARKSMITH_SINGLE ? 5e-7 : 1e-14);
    EXPECT_DONE(quarksmith_dynamics_set_links(dynamics, from.data(), &f));
    if (f.precision == QUARKSMITH_SINGLE) continue;  // made SU(3) to double
    EXPECT_DONE(quarksmith_dynamics_get_links(dynamics, to.data(), &f));
    expect_back();
  }
}

TEST_P(MemoryOfTheCaller, HoldsLinksMomentaAndFields) {
  const Numbers numbers = numbers_of(links);
  const Elsewhere there(device, numbers), back(device, Numbers(numbers.size()));
  const void* array = there.data();
  void* out = back.data();
  const quarksmith_link_format format = link_format();
  Gauge gauge;
  EXPECT_DONE(quarksmith_gauge_load(context, &array, &format, gauge.out()));
  EXPECT_DONE(quarksmith_gauge_get(gauge, &out, &format));
  EXPECT_EQ(back.numbers(), numbers);
  // A site term, numbers of a field.
  const quarksmith_term_format terms = initial(quarksmith_term_format_init);
  EXPECT_DONE(quarksmith_gauge_term(gauge, "A", array, nullptr, &terms));
  EXPECT_DONE(quarksmith_gauge_field(gauge, "phi", count, static_cast<const double*>(array)));
  Handle<quarksmith_dynamics> dynamics;
  EXPECT_DONE(quarksmith_dynamics_create(gauge, dynamics.out()));
  EXPECT_DONE(quarksmith_dynamics_set_links(dynamics, &array, &format));
  const Elsewhere zero(device, Numbers(numbers.size()));
  const void* momenta = zero.data();
  EXPECT_DONE(quarksmith_dynamics_set_momenta(dynamics, &momenta, &format));
  EXPECT_DONE(quarksmith_dynamics_get_momenta(dynamics, &out, &format));
  EXPECT_EQ(back.numbers(), Numbers(numbers.size()));
}

TEST_P(MemoryOfTheCaller, IsUsedInTheOrderOfItsStream) {
  if (GetParam() == std::string("cpu"))
    return refused(quarksmith_use_stream(context, nullptr), QUARKSMITH_BAD_ARGUMENT, "no streams");
  EXPECT_DONE(quarksmith_use_stream(context, nullptr));
  const Numbers psi = random_numbers(count, 4);
  const Elsewhere from(device, psi), to(device, Numbers(count));
  const Field field = make_field(context);
  const quarksmith_spinor_format format = spinor_format();
  EXPECT_DONE(quarksmith_field_set(field, 0, from.data(), &format));
  EXPECT_DONE(quarksmith_field_get(field, 0, to.data(), &format));
  EXPECT_DONE(quarksmith_synchronize(context));
  EXPECT_LE(distance(to.numbers(), psi), 1e-15);
}

/// What a pool has given, by address; with a limit.
struct Pool {
  std::shared_ptr<Device> device;
  std::map<void*, std::size_t> given = {};
  std::size_t all = 0, limit = ~std::size_t(0);

  static void* allocate(std::size_t bytes, void*, void* data) {
    auto& pool = *static_cast<Pool*>(data);
    if (pool.all + bytes > pool.limit) return nullptr;
    void* const memory = pool.device->allocate(bytes);
    pool.all += pool.given[memory] = bytes;
    return memory;
  }
  static void release(void* memory, void*, void* data) {
    auto& pool = *static_cast<Pool*>(data);
    EXPECT_EQ(pool.given.erase(memory), 1u);
    pool.device->synchronize();
    pool.device->release(memory);
  }
};

TEST_P(MemoryOfTheCaller, IsTheLibrarysByAPool) {
  Pool pool{device};
  quarksmith_pool with = initial(quarksmith_pool_init);
  refused(quarksmith_use_pool(context, &with), QUARKSMITH_BAD_ARGUMENT, "allocate is NULL");
  with.allocate = Pool::allocate;
  with.release = Pool::release;
  with.data = &pool;
  if (GetParam() == std::string("cpu"))
    return refused(quarksmith_use_pool(context, &with), QUARKSMITH_BAD_ARGUMENT, "contexts of GPUs");
  EXPECT_DONE(quarksmith_use_pool(context, &with));
  {
    const Gauge gauge = load(context, links);
    const Solver solver = make_solver(gauge, how);
    EXPECT_EQ(solve(solver, {random_numbers(count, 5)}).status, QUARKSMITH_OK);
    EXPECT_GT(pool.given.size(), 3u);
    refused(quarksmith_use_pool(context, &with), QUARKSMITH_BAD_ARGUMENT, "in use");
    pool.limit = pool.all;
    Field field;
    refused(quarksmith_field_create(context, "", field.out()), QUARKSMITH_OUT_OF_MEMORY, "pool of the calling program");
  }
  context.free();
  EXPECT_TRUE(pool.given.empty());
}

ON_DEVICES_BY_NAME(MemoryOfTheCaller);

}  // namespace
