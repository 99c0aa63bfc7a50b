"""What models leave open, in words: one model's gap may be closed by another."""

ANOTHER_RELEASE = "two releases of the same people can be joined (complementary release)"
SIMILARITY = (
    "different values that mean much the same, such as three stomach diseases, tell what they "
    "share (similarity)"
)
SKEWNESS = (
    "a value may be far more frequent in a class than in the table, which raises an attacker's "
    "belief (skewness)"
)
BACKGROUND = (
    "an attacker who can rule out more values than the model allows for narrows the rest "
    "(background knowledge)"
)
IDENTITY = "who a record belongs to: without k-anonymity a person may still be picked out"
HOMOGENEITY = (
    "a class whose records all share a sensitive value tells it without naming a person "
    "(homogeneity)"
)
