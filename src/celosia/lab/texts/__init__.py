"""The study `texts`: why prose has no epsilon, published vectors, and detection on known truth.

Word noise is a switch and no dial; a hash without a key is listed; surrogates that are drawn one by
one are shared. The vectors are those of NIST and of independent programs.
"""

from __future__ import annotations

from celosia.lab.study import Part, family

STUDIES = family(
    "texts",
    Part("word-noise", ("word_noise",)),
    Part("pseudonyms"),
    Part("detection"),
    Part("checks"),
)
"""The whole and its parts."""
