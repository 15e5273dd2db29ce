"""Digests of the statements of the project, which files that were written with them do not state.

A statement that is not here, or no longer says the same, is known by its digest: what was computed with another formula
of its name does not serve it (`formula_digest` in files). A change that leaves M as it is may change its digest here.
"""

RELEASED = {
    "asqtad": "b001c7ff200a6280",
    "brillouin": "89826783d1fd04b4",
    "clover": "66aa30b93cf6c111",
    "d234": "7745a90651eba2c5",
    "domain_wall": "8fbd56d59389d909",
    "fat7": "3e91b9f1056fba2f",
    "hisq": "602659a1544767d6",
    "improved_staggered": "d9f243e3e60aaf32",
    "laplace3": "bc3c8377eb5747db",
    "laplace4": "9fdfe5a138677356",
    "moebius": "9dcf191effef5736",
    "naik": "cc67ca0e1b59d2ec",
    "naive": "a6c16ce8ee495fa1",
    "staggered": "6c1c8c2637e5f1b3",
    "stout": "8bb50b52ada668af",
    "stout_space": "a7f47f584a1ced96",
    "twisted_clover": "8f75dd3219f5973b",
    "twisted_clover_doublet": "d8cfb2aa43ac9d37",
    "twisted_doublet": "2a44ce70372214ec",
    "twisted_mass": "0c2e8057acd37dfa",
    "unitary": "f1488aadc2259f49",
    "wilson": "dc990c1b53a0ccf6",
}
