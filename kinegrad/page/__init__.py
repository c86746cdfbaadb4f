"""The animated page of a motion: one file of HTML that works offline, and a small server that redraws it live."""
