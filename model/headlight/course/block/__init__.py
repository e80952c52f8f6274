"""The parts of a transformer block besides attention, and their purpose."""
