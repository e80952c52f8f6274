"""Files of numbers and figures: what any page exports."""
