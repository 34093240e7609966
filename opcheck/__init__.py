"""Will this model run on that accelerator, where will it not, and how do you know?"""
