"""Object stores: one small protocol and the backends that keep it."""
