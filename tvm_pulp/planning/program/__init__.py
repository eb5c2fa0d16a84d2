"""One typed program: what schedule, TIR, estimate, verifier, plan.json and C share."""
