"""How can saved agent transcripts be made smaller without losing what the next run needs?"""

__version__ = "0.1.0"
