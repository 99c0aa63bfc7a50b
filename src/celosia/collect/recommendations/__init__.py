"""Which protocol, with which parameters and which error."""
