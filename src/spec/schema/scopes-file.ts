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
            .describe("root: all but the masks; session-log: only files that this session's entries name."),
          write: WritePathsSchema.describe(
            'Folders, files and globs that may be written, relative to the root, and exclusions (!dist/).',
          ),
          command: z
            .enum(['none', 'read-only', 'contained', 'test', 'deploy'])
            .describe('test and deploy: only the configured commands; contained: writes only within write.'),
          url: z.enum(['none', 'allow-list']).describe("allow-list: only hosts that the repository's config names."),
          resource: ResourcePatternsSchema.optional(),
        }),
      )
      .describe('Each scope by its name.'),
  })
  .describe('The table of scopes.');
export type ScopesFile = z.output<typeof ScopesFile>;
