"""The frontend of Headlight: a page in the browser, and the command that opens it."""
