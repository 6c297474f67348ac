"""Which files are the data: a transaction log in the object store, one timeline per writer and database."""
