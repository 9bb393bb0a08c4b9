export type SpecFileKind = 'gate' | 'tools' | 'scopes' | 'conditions' | 'properties' | 'peripheral' | 'edn';

export function kindOfFile(file: string): SpecFileKind | null {
  const name = baseName(file);
  if (name.endsWith('.edn')) return 'edn';
  if (!name.endsWith('.yaml')) return null;
  const stem = name.slice(0, -'.yaml'.length);
  const named = (['gate', 'tools', 'scopes', 'conditions', 'properties'] as const).find((kind) => kind === stem);
  return named ?? 'peripheral';
}

/** `edit` of `specs/peripherals/edit.yaml`. */
export function stemOf(file: string): string {
  return baseName(file).replace(/\.[^.]*$/, '');
}

function baseName(file: string): string {
  return file.split(/[/\\]/).at(-1)!;
}
