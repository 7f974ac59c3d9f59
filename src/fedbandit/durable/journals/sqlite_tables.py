"""The tables of a journal in an SQLite file."""

TABLES_OF_0_1 = """
CREATE TABLE records (position INTEGER PRIMARY KEY, kept INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX kept_records ON records (position) WHERE kept;
CREATE TABLE snapshots (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER, data BLOB NOT NULL);
CREATE TABLE synced (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER);
"""
ADDED_SINCE = """
ALTER TABLE records ADD COLUMN seal INTEGER;
ALTER TABLE snapshots ADD COLUMN seal INTEGER;
CREATE TABLE about (one INTEGER PRIMARY KEY CHECK (one = 1), number BLOB NOT NULL);
CREATE TABLE writers (first INTEGER PRIMARY KEY, version TEXT NOT NULL);
"""
NOTES = "CREATE TABLE IF NOT EXISTS notes (one INTEGER PRIMARY KEY CHECK (one = 1), data BLOB NOT NULL)"
