"""Keyed pseudonyms: values replaced by others that only the holder of a key can trace back.

A pseudonym hides nothing from an attacker who knows other facts about the record: no module here
makes a formal promise. Each needs a secret key, which never goes into a release.
"""
