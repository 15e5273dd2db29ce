! As ranks.c, in Fortran: mpirun -n 2 consumer_fortran FILE X,Y,Z,T A,B,C,D (extents, and ranks along each).
program ranks
  use mpi_f08
  use quarksmith
  implicit none
  type(quarksmith_ranks) :: of
  type(quarksmith_spinor_format) :: arrays
  type(quarksmith_solve_report) :: reports(1)
  type(c_ptr) :: context, gauge, solver
  complex(c_double_complex), allocatable, target :: x(:, :, :), b(:, :, :)  ! colour, spin, site (x fastest)
  character(len=1024) :: words(3)
  character(kind=c_char, len=*), parameter :: options = "action=clover mass=0.2 csw=1.1 tol=1e-10"//c_null_char
  real(c_double) :: plaquette(3), norm
  integer :: global(4), grid(4), local(4), n, rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do n = 1, 3
    call get_command_argument(n, words(n))
  end do
  read (words(2), *) global
  read (words(3), *) grid
  local = global/grid
  allocate (x(3, 4, product(local)), b(3, 4, product(local)))
  b = 0
  if (rank == 0) b(1, 1, 1) = 1  ! of the site 0,0,0,0

  call check(quarksmith_ranks_init(of))
  of%communicator = MPI_COMM_WORLD%MPI_VAL
  of%grid = grid
  call check(quarksmith_open_ranks("auto"//c_null_char, local, of, context))
  call check(quarksmith_gauge_read(context, trim(words(1))//c_null_char, gauge))
  call check(quarksmith_gauge_plaquette(gauge, plaquette))
  call check(quarksmith_spinor_format_init(arrays))
  call check(quarksmith_solver_create(gauge, options, solver))
  call check(quarksmith_solve_report_init(reports(1)))
  call check(quarksmith_solve(solver, 1, [c_loc(x)], [c_loc(b)], arrays, reports))
  norm = sum(real(x)**2 + aimag(x)**2)
  call MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(A, F14.12)', "plaquette ", plaquette(1)
  if (rank == 0) print '(I0, A, F12.10)', reports(1)%iterations, " iterations, |x|^2 ", norm
  call quarksmith_free(solver)
  call quarksmith_free(gauge)
  call quarksmith_free(context)
  call MPI_Finalize()
contains
  subroutine check(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char, len=1024), pointer :: text
    if (status == QUARKSMITH_OK) return
    call c_f_pointer(quarksmith_message(), text)
    print '(A)', text(:index(text, c_null_char) - 1)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check
end program ranks
