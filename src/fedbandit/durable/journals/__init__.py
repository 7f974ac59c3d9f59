"""Where nodes write down what happens to them: in memory, in SQLite, in PostgreSQL."""
