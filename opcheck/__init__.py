"""opcheck: will this model run on that accelerator?"""
