"""Field tables by the galois package, version 0.4; `python galois_tables.py` writes galois_tables.json beside it.

Elements are whole numbers, coefficients base p lowest first; polynomials are lists of coefficients, lowest first.
"""

import json
from pathlib import Path

SIZES = [(2, 1), (3, 1), (2, 2), (5, 1), (7, 1), (2, 3), (3, 2), (11, 1), (13, 1), (2, 4)]
POLYNOMIALS = [
    *SIZES,
    (5, 2),
    (3, 3),
    (2, 5),
    (7, 2),
    (2, 6),
    (3, 4),
    (11, 2),
    (5, 3),
    (2, 7),
    (3, 5),
    (2, 8),
    (7, 3),
    (5, 4),
    (3, 6),
    (2, 9),
    (31, 2),
    (2, 10),
    (7, 4),
    (5, 5),
    (3, 8),
    (2, 14),
]
# the moduli that figure 1 of Micheals & Boult mixes, the field of AES, one more that is not primitive
OTHERS = [
    (3, [1, 2, 0, 0, 0, 1]),
    (3, [1, 0, 1, 0, 1, 1]),
    (2, [1, 1, 0, 1, 1, 0, 0, 0, 1]),
    (3, [1, 0, 1]),
]


def table(galois, p, modulus):
    """One field: modulus, orders of the elements but 0, addition and multiplication where it is small."""
    field = galois.GF(p)
    if len(modulus) > 2:
        field = galois.GF(
            p, len(modulus) - 1, irreducible_poly=galois.Poly(modulus[::-1], field=field)
        )
    elements = field.elements
    found = {
        "p": p,
        "modulus": modulus,
        "primitive_element": int(min(int(e) for e in field.primitive_elements)),
        "orders": [int(k) for k in elements[1:].multiplicative_order()],
    }
    if field.order <= 16:
        found["add"] = [[int(a + b) for b in elements] for a in elements]
        found["multiply"] = [[int(a * b) for b in elements] for a in elements]
    return found


def main():
    """Write the file."""
    import galois

    found = [(p, m, galois.primitive_poly(p, m, method="min").coeffs[::-1]) for p, m in POLYNOMIALS]
    smallest = [
        {"p": p, "degree": m, "modulus": [int(c) for c in modulus]} for p, m, modulus in found
    ]
    fields = [table(galois, s["p"], s["modulus"]) for s in smallest[: len(SIZES)]]
    fields += [table(galois, p, modulus) for p, modulus in OTHERS]
    text = json.dumps(
        {"galois": galois.__version__, "smallest_primitive": smallest, "fields": fields}
    )
    Path(__file__).with_suffix(".json").write_text(
        text.replace("{", "\n{") + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
