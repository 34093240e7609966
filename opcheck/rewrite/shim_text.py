"""The parts that a shim is written of, as text."""

HEAD = '''\
"""Kernels that {target} lacks, from what it has; written by opcheck {version}.

Import it once, after {plugin}:

    import {plugin}
    import {module}

{rows}
"""
'''
TAIL = '''\
LIBRARIES = []
"""Dropping them takes the kernels away again."""


def _register(overload, kernel, *keys):
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")
    for key in keys:
        library.impl(name, kernel, key)
    LIBRARIES.append(library)
{beside}

{calls}
'''
BOXED = '''

def _overload(overload):
    namespace, name = overload.split("::")
    base, _, form = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), form or "default")


def _boxed(own, args, kwargs):
    """Tensors for numbers that stand for some: what calls a kernel from Python takes no others."""
    named = {a.name for a in own._schema.arguments if str(a.type) == "Tensor"}

    def boxed(name, value):
        plain = name not in named or isinstance(value, torch.Tensor)
        return value if plain else torch.tensor(value)

    args = [boxed(a.name, value) for a, value in zip(own._schema.arguments, args)]
    return args, {name: boxed(name, value) for name, value in kwargs.items()}


'''
BESIDE = '''\
def _register_beside(overload, kernel, refuses, *keys):
    """Use a kernel for what the device's own refuses, and that for the rest."""
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")

    def beside(own):
        def chosen(keys, *args, **kwargs):
            if refuses(*args, **kwargs):
                return kernel(*args, **kwargs)
            args, kwargs = _boxed(_overload(overload), args, kwargs)
            return own.call_boxed(keys, *args, **kwargs)

        return chosen

    for key, own in [(key, torch.library.get_kernel(overload, key)) for key in keys]:
        library.impl(name, beside(own), key, with_keyset=True)
    LIBRARIES.append(library)
'''
ABOVE = '''\
def _register_beside(overload, kernel, refuses, key):
    """Use a kernel for what the device's own refuses, and that for the rest.

    They are chosen from above the device's key: at autograd's, and at one that every call passes.
    """
    namespace, name = overload.split("::")
    library = torch.library.Library(namespace, "IMPL")
    own, keys = _overload(overload), torch._C.DispatchKey
    other = torch._C.DispatchKeySet(keys.AutogradOther)

    def taken(args, kwargs):
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
        return any(t.device.type not in ("cpu", "meta") for t in given) and refuses(*args, **kwargs)

    def above(given, *args, **kwargs):
        if taken(args, kwargs):
            return kernel(*args, **kwargs)
        args, kwargs = _boxed(own, args, kwargs)
        return own.redispatch(given.remove(getattr(keys, key)) | other, *args, **kwargs)

    def below(given, *args, **kwargs):
        if taken(args, kwargs):
            return kernel(*args, **kwargs)
        args, kwargs = _boxed(own, args, kwargs)
        return own.redispatch(given.remove(keys.BackendSelect), *args, **kwargs)

    library.impl(name, above, key, with_keyset=True)
    library.impl(name, below, "BackendSelect", with_keyset=True)
    LIBRARIES.append(library)
'''
PARTS = '''\
def _register_with_parts(overload, kernel, refuses, *keys):
    """Use a kernel for what the device's own refuses, and what PyTorch does itself for the rest.

    With this torch the device's own kernel cannot be reached beside another.
    """
    own = _overload(overload)

    def chosen(*args, **kwargs):
        if refuses(*args, **kwargs):
            return kernel(*args, **kwargs)
        args, kwargs = _boxed(own, args, kwargs)
        return own.decompose(*args, **kwargs)

    _register(overload, chosen, *keys)
'''
ONCE = '''\
def _once(kernel):
    """A kernel that calls its own overload, and a test that leaves that call to what was there."""
    inside = threading.local()

    def called(*args, **kwargs):
        inside.now = True
        try:
            return kernel(*args, **kwargs)
        finally:
            inside.now = False

    return called, lambda *args, **kwargs: not getattr(inside, "now", False)
'''
TEST = '''\
import torch


{helpers}


def {name}(*args, **kwargs):
    """Whether the device's kernel refuses this use of {op}."""
    given = {{**dict(zip({names}, args)), **kwargs}}
    return (
        {refused}
    )
'''
WRITTEN = '''\
def _writing(kernel, *names):
    """Let a kernel that gives new tensors write them where the caller says."""

    def written(*args, **kwargs):
        places = [kwargs.pop(name) for name in names] or args[:1]
        results = kernel(*args, **kwargs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for place, result in zip(places, results):
            if place.shape != result.shape:
                place.resize_(result.shape)
            place.copy_(result)
        return places[0] if len(places) == 1 else tuple(places)

    return written
'''
