"""Pure rendering: mathematics, plain text, safe HTML and highlighted quotes."""
