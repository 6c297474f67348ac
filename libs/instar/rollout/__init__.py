"""The rollout: its stages, the flags around them, and the evidence that their gates judge."""
