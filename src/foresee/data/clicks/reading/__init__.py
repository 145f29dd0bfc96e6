"""Reading: from bytes to chunks of columns, from front to back, in constant memory."""
