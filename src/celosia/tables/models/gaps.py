"""What models leave open, in words: one model's gap may be closed by another."""

from celosia.core.messages import Message

ANOTHER_RELEASE = Message("models.gaps.another_release")
SIMILARITY = Message("models.gaps.similarity")
SKEWNESS = Message("models.gaps.skewness")
BACKGROUND = Message("models.gaps.background")
IDENTITY = Message("models.gaps.identity")
HOMOGENEITY = Message("models.gaps.homogeneity")
DOMINANCE = Message("models.gaps.dominance")
KNOWN_MEMBER = Message("models.gaps.known_member")
LACKING_VALUES = Message("models.gaps.lacking_values")
OTHER_POPULATION = Message("models.gaps.other_population")
PUBLIC_TABLE = Message("models.gaps.public_table")
RANDOM_SAMPLE = Message("models.gaps.random_sample")
