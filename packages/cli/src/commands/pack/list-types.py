"""Prints which node types the code of a pack offers, found as the host finds them. Arguments: folder, entry, mark."""

import importlib
import json
import os
import sys

folder, entry, mark = sys.argv[1:]
write = sys.stdout.write
dumps = json.dumps
leave = os._exit
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
ACTING = ('socket.', 'subprocess.', 'ctypes.', 'shutil.', 'os.system', 'os.exec', 'os.fork', 'os.posix_spawn', 'os.spawn',
          'os.kill', 'os.remove', 'os.rename', 'os.rmdir', 'os.mkdir', 'os.chmod', 'os.chown', 'os.truncate')


def located(file):
    """The folder and the names to import: of a module, a package or a wheel."""
    if file.endswith(('.whl', '.zip')):
        import zipfile

        with zipfile.ZipFile(file) as wheel:
            tops = {name.split('/')[0] for name in wheel.namelist()}
        return file, sorted(top.removesuffix('.py') for top in tops if not top.endswith(('.dist-info', '.data')))
    parent, name = os.path.split(file)
    if name == '__init__.py':
        parent, name = os.path.split(parent)
    return parent, [name.removesuffix('.py')]


def deny(event, args):
    """Denies side effects of loading. It does not confine untrusted code; that needs the sandbox of the host."""
    if event.startswith(ACTING) or (event == 'open' and isinstance(args[2], int) and args[2] & WRITING):
        raise PermissionError(f'A module must not do this while it is loaded: {event}')


root, names = located(os.path.join(folder, entry))
sys.path[:0] = [root, folder]
sys.addaudithook(deny)
types = []
for name in names:
    module = importlib.import_module(name)
    for table in (getattr(module, 'nodes', None), getattr(module, 'NODES', None)):
        if isinstance(table, dict):
            types += [str(type_id) for type_id, node in table.items() if callable(node)]
            break
write(mark + dumps(sorted(set(types))))
sys.stdout.flush()
leave(0)
