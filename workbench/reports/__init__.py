"""A notebook and its parameters in, one self-contained HTML file out."""
