"""Who an agent is: its key, its session credentials, its registration with a relay."""
