"""The analyses of the tab Layers: a file for each that is shown as views, and the table of all."""
