"""What the data is: types, columns, tables, parts. Pure values, no input or output."""
