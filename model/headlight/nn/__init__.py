"""The network: attention, its parts and the stacks made of them, with a hook on each intermediate value."""
