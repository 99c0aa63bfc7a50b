"""How far one person or one row can move an answer, and the noise that hides it.

Two kinds of bounds. For one row: `stability` and `elastic_sensitivity` at every distance from the
data, smoothed by `smooth_sensitivity`, hidden by `noise`. For one person with all their rows:
truncation at a cap (`caps`) that is given (`capped_total`), chosen from numbers of people
(`private_cap`), or chosen by race to the top (`r2t`, `r2t_cap`; `in_turn` for rows of two people,
`r2t_program` for rows of several).
"""
