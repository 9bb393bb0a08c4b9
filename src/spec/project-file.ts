import { z } from 'zod';
import { Name } from './names.ts';
import { RelativePath } from './paths.ts';

const Argv = z.array(z.string().regex(/^[^\0]+$/, 'is not a word of a command: not empty, no NUL')).min(1);
// What git would take for an option, a range or a pattern is none.
const Remote = z.string().regex(/^[^-\s\0][^\s\0]*$/, 'is not a remote: no blank, no - in front');
const Branch = z
  .string()
  .regex(/^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock$|\/$))[^\s\0~^:?*[\\]+$/, 'is not the name of a branch');
const Host = z
  .string()
  .regex(
    /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/,
    'is not a host: write docs.example.com or *.example.com, without https:// and without a path',
  );
const Folder = z
  .string()
  .regex(/^(?:\/|~\/)[^\0]*$/, 'is not an absolute folder: begin with / or with ~/ for the home folder');
const Mask = z
  .string()
  .regex(/^[^/\\\0][^\\\0]*$/, 'is not a pattern beneath the root: no leading /, no backslash, not empty');

/** The authored form of `hopgate.yaml`, at a repository's root: how it is tested and shipped. Every key is optional. */
export const ProjectFile = z
  .strictObject({
    specs: RelativePath.optional().describe('default, or a folder of spec files relative to the root.'),
    scopes: z
      .record(Name, z.array(RelativePath))
      .optional()
      .describe('By peripheral: the paths that may be written in this repository, instead of the spec’s.'),
    test: z
      .array(
        z.strictObject({
          run: Argv.describe('The command as a list of words; {args} marks where arguments may be added.'),
          report: z
            .union([z.enum(['tap', 'none']), z.strictObject({ junit: RelativePath.describe('The report’s path.') })])
            .optional()
            .describe('tap, { junit: path }, or none (exit status only: the count is unknown).'),
        }),
      )
      .optional()
      .describe('The test commands.'),
    deploy: z
      .record(
        Name,
        z.union([
          Argv,
          z.strictObject({
            run: Argv.describe('The command as a list of words.'),
            network: z.boolean().optional().describe('Whether it may reach the network; no if left out.'),
          }),
        ]),
      )
      .optional()
      .describe(
        'The deploy commands by name: a list of words, or { run, network: true } for one that ships over the network.',
      ),
    git: z
      .strictObject({
        remote: Remote.describe('The remote that may be pushed to.'),
        branch: Branch.describe('The branch that may be pushed.'),
      })
      .optional()
      .describe('Where pushes go; no push if left out.'),
    web: z
      .strictObject({ allow: z.array(Host).describe('Hosts; *.example.com for all beneath one.') })
      .optional()
      .describe('What web-fetch may reach; nothing if left out.'),
    mask: z
      .array(Mask)
      .optional()
      .describe('Files that no tool sees, instead of the default list; a pattern without / holds at any depth.'),
    toolchains: z.array(Folder).optional().describe('Further read-only folders for the sandbox.'),
  })
  .describe('How a repository is tested and shipped.');
export type ProjectFile = z.output<typeof ProjectFile>;
