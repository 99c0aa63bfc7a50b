"""Clients for devices: one file of Python, one of JavaScript, and what any other must reproduce.

`celosia_client.py` and `celosia_client.mjs` need nothing but their language. They take the client
parameters of a protocol (`parameters.client_parameters`): all that a device must know, with the
coins worked out. `conformance.json` holds values, randomness and reports, so that a client in any
language can be checked byte by byte.
"""
