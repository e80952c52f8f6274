"""What is shown: plain values that a page, a figure and a file of numbers are made of."""
