/** A sentence and a remedy for each error of the operating system; `%` is replaced by the path or the address. */
const SENTENCES: { readonly [code: string]: readonly [message: string, remedy: string] } = {
  EACCES: ['no permission to open %', 'Change its permissions, or run hopgate as its owner.'],
  EPERM: ['the system does not permit this on %', 'Run hopgate as the owner of the file.'],
  EROFS: ['% is on a read-only file system', 'Name a place on a writable file system.'],
  EISDIR: ['% is a folder, not a file', 'Name a file.'],
  ENOTDIR: ['a part of the path % is a file, not a folder', 'Name a place inside a folder.'],
  ENOENT: ['% does not exist', 'Name an existing file or folder; a new file needs an existing folder.'],
  EEXIST: ['% exists already', 'Name another place, or remove it first.'],
  ENOTEMPTY: ['% is not empty', 'Name an empty folder.'],
  ELOOP: ['% leads through too many links', 'Name the file itself.'],
  ENAMETOOLONG: ['the path % is too long', 'Use a shorter path.'],
  ENOSPC: ['no space is left on the disk of %', 'Free some space, then try again.'],
  EDQUOT: ['your disk quota is used up at %', 'Free some space, then try again.'],
  EADDRINUSE: ['% is in use', 'Name another port.'],
  EADDRNOTAVAIL: ['this machine has no address %', 'Name an address of this machine.'],
  EMFILE: ['this process has too many open files', 'Raise the limit ("ulimit -n"), then try again.'],
};

/** Explains a file or network error in a sentence with a remedy; null for any other error. */
export function explainSystemError(error: unknown): { readonly message: string; readonly remedy: string } | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const sentence = Object.hasOwn(SENTENCES, error.code) ? SENTENCES[error.code] : undefined;
  if (sentence === undefined) return null;
  const { path, address, port } = error as { path?: unknown; address?: unknown; port?: unknown };
  const name = [path, address].find((value) => typeof value === 'string') ?? 'the file';
  return { message: sentence[0].replace('%', () => `${name}${port ? `:${port}` : ''}`), remedy: sentence[1] };
}
