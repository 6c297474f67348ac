"""Keep a table in shape: rewrite its parts in another format or another size, without changing its content."""
