"""Click logs: from a file of impressions, of any size, to numbers that a network takes.

`schema` says what the columns are, `reading` streams them, `preprocessing` turns them into numbers by what the training
rows taught it, `preparing` writes these once in a form that is read with numpy alone, and `clicks` is the data set.
"""
