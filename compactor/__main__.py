"""How is compactor run as a module: `python -m compactor`?"""

from compactor.cli import main

main()
