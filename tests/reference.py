"""The paper's programs for a general solver; they live with the experiments that compare against them."""

from rldp.paper.reference import PROBLEMS, ReferenceDesign, reference_design

__all__ = ["PROBLEMS", "ReferenceDesign", "reference_design"]
