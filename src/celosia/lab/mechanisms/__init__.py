"""Studies of differentially private mechanisms, and mechanisms that are known to be broken."""
