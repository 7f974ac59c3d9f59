"""What runs leave behind: results, tables, figures and reports."""
