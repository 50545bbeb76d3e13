"""The reproduction of paper slate-pseudoinverse: Swaminathan et al., Off-policy evaluation for slate recommendation."""
