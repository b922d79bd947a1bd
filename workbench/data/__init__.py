"""Reading of files, data frames and annotation sheets: numbers, scores and labels."""
