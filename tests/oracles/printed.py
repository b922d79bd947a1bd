"""What the papers print."""

# Micheals & Boult, equation 12: seven of the eight rows of a balanced array
EQUATION_12 = ["++-+---", "+-+--++", "++--++-", "+--++++", "--++-+-", "-++++--", "+++++++"]
