"""How does compactor begin, as a program and as `python -m compactor`, if somebody presses Ctrl-C at once?"""

import signal


def main() -> None:
    """Run the command line; an interrupt while its parts are imported ends it without a traceback."""
    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:  # else whoever began it wants no interrupts
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from compactor.cli import main as run  # noqa: PLC0415

    signal.signal(signal.SIGINT, heard)
    run()


if __name__ == "__main__":
    main()
