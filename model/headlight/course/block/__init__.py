"""Chapter 6: the parts of a transformer block besides attention, and their purpose."""
