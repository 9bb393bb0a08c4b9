import { z } from 'zod';
import { SpecNameSchema } from './name-schema.ts';
import { WritePathsSchema } from './path-schema.ts';
import { ResourcePatternsSchema } from './resource-schema.ts';

/** The authored form of `scopes.yaml`: the limits of each scope for a tool's arguments. */
export const ScopesFile = z
  .strictObject({
    scopes: z
      .record(
        SpecNameSchema,
        z.strictObject({
          read: z
            .enum(['root', 'session-log', 'none'])
            .describe(
              "The files that may be read: root (all but the masked ones), session-log (only files that this session's entries name), or none.",
            ),
          write: WritePathsSchema.describe(
            'Folders, files and globs that may be written, relative to the root, and exclusions (!dist/).',
          ),
          command: z
            .enum(['none', 'read-only', 'contained', 'test', 'deploy'])
            .describe(
              'The commands that may run. test and deploy: only the configured ones; read-only: any, in a sandbox with a read-only tree; contained: any, in a sandbox, whose writes are kept only within write.',
            ),
          url: z
            .enum(['none', 'allow-list'])
            .describe(
              "The hosts that may be requested: none, or allow-list (only hosts that the repository's config names).",
            ),
          resource: ResourcePatternsSchema.optional(),
        }),
      )
      .describe('Each scope by its name.'),
  })
  .describe('The table of scopes.');
export type ScopesFile = z.output<typeof ScopesFile>;
