import { escapeInvisible } from '../../base/text.ts';

/** The reason why a text is not the name of a resource, as a phrase; null if it is one. */
export function resourceNameProblem(name: string): string | null {
  if (name === '') return 'it is empty';
  const [wrong] = /[\s\p{C}*?[\]{}()!\\%]/u.exec(name) ?? [];
  if (wrong !== undefined)
    return `it contains "${escapeInvisible(wrong)}", which is not allowed in the name of a resource`;
  if (name.split('/').includes('') || name.split(/[/:]/).some((each) => each === '.' || each === '..'))
    return 'it contains an empty name, "." or ".."';
  return null;
}
