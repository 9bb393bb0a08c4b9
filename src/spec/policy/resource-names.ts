/** The reason why a text is not the name of a resource, as a phrase; null if it is one. */
export function resourceNameProblem(name: string): string | null {
  if (name === '') return 'it is empty';
  if (/[\s\p{C}*?[\]{}()!\\%]/u.test(name))
    return 'it contains white space, an invisible character, or one of * ? [ ] { } ( ) ! \\ %';
  if (name.split('/').includes('') || name.split(/[/:]/).some((each) => each === '.' || each === '..'))
    return 'it contains an empty name, "." or ".."';
  return null;
}
