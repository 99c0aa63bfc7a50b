"""Parts that pages are made of: tables, charts, progress, code to copy, files to bring."""
