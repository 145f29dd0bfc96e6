"""Preparing: a log learnt from and encoded once, in arrays that are mapped into memory."""
