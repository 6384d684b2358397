"""Does what a language model says about materials obey physics?

Submodules load when they are used, so that ``import matpcr_utils`` and the command line start fast.
"""

__version__ = "0.1.0"
