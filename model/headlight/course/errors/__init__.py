"""Where notes and tutorials go wrong: each claim with the number that shows it, and where to read on."""
