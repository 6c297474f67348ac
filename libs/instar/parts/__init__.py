"""Parts: immutable Parquet files, how they are laid out, written, read and compared."""
