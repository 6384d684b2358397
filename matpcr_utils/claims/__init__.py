"""Reading claims out of a reasoning chain."""

from matpcr_utils.claims.extract import extract_claims
from matpcr_utils.claims.model import CONSTRAINTS, Claim, ClaimTable

__all__ = ["CONSTRAINTS", "Claim", "ClaimTable", "extract_claims"]
