"""Files, data frames and label sheets in; numbers, scores and labels out."""
