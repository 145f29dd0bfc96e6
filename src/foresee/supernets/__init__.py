"""Supernets: one set of weights shared by all networks of a space, and a little training before looking.

supernet = Supernet(space, task, seed=0)
supernet.train(data, share=0.1, out="runs/supernet")
network = supernet.inherit(architecture)      # its weights lie in the supernet's storage
"""
