"""What pages are drawn with: charts, the component bridge, the wire format."""
