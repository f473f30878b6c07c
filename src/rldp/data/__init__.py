"""People's data: labels, columns, data frames, CSV and Parquet files."""
