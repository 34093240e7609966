"""Limits of a process as values: what it may ask of the kernel, and which files it may use."""

from msgspec import Struct


class Filter(Struct, frozen=True):
    """What a process may still ask of the kernel; the network and the system it never may."""

    programs: bool = False
    """Whether it may start programs."""
    processes: bool = True
    """Whether it may copy itself."""
    local_sockets: bool = False
    """Whether it may have unix sockets, as ``multiprocessing`` does."""
    modes: bool = False
    """Whether files may get other times, and changes of modes and owners are reported as done, and
    are not; else all of it is refused. Files cannot be told apart here, and code that copies its
    own files sets both."""


class Profile(Struct, frozen=True):
    """The limits of one process and of all that it starts."""

    scratch: str
    """The one folder that it may write to."""
    reads: tuple[str, ...] | None = None
    """Files and folders that it may read beside the interpreter's; None: any."""
    writes: tuple[str, ...] = ()
    """Files that it may write to beside the folder; they have to be there."""
    filter: Filter = Filter()
    """What it may ask of the kernel."""
    empties: str = ""
    """A folder that it may remove empty folders from, as the scratch folder at last; "": none."""
    shared_memory: bool = False
    """Whether it may use memory that processes share, as ``multiprocessing`` does."""
    overlaid: tuple[str, ...] = ()
    """Folders in which it may write what only it sees."""
    aside: str = ""
    """The folder in which that lies; "": there is none."""
    writable: tuple[str, ...] = ()
    """Folders that it may write to as if it were not limited."""
    interpreter: bool = False
    """Whether it may start this Python interpreter, where it may not start every program."""
