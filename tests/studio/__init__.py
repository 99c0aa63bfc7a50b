"""Tests of the studio, some of them in a browser that all of them share."""
