"""Randomised response: each person's answer is hidden by itself."""

from celosia.mechanisms.responses.kary_response import FrequencyEstimate, KaryResponse
from celosia.mechanisms.responses.randomised_response import RandomisedResponse, RateEstimate

__all__ = ["FrequencyEstimate", "KaryResponse", "RandomisedResponse", "RateEstimate"]
