import { optional, z } from 'zod';
import { DEFAULT_MASKS } from '../policy/default-masks.ts';
import { MAX_MASKS } from '../policy/limits.ts';
import { SpecNameSchema } from './name-schema.ts';
import {
  DeployCommandSchema,
  GitSchema,
  InstallCommandSchema,
  ProjectFile,
  ServerSchema,
  TestCommandSchema,
} from './project-file.ts';
import {
  CacheFolderSchema,
  CommandWordsSchema,
  EnvNameSchema,
  FilePathSchema,
  MaskPatternSchema,
  SshFileSchema,
  TextLineSchema,
} from './project-values.ts';

const env = z.record(EnvNameSchema, TextLineSchema);
const reach = { env: optional(env), ssh: optional(z.strictObject({ key: SshFileSchema, knownHosts: SshFileSchema })) };
const username = z.string();

const Credential = z.union([
  z.strictObject({ kind: z.literal('env'), name: EnvNameSchema, username }),
  z.strictObject({ kind: z.literal('file'), path: FilePathSchema, username }),
  z.strictObject({ kind: z.literal('helper'), command: CommandWordsSchema }),
  z.strictObject({ kind: z.literal('key'), path: SshFileSchema, knownHosts: SshFileSchema }),
  z.strictObject({ kind: z.literal('agent'), knownHosts: SshFileSchema }),
]);

const { remote, branch, url, ca, author, trailer } = GitSchema.shape;

/**
 * The form of a config that a program states: a `ProjectConfig` whose keys are optional. Its values are those of
 * hopgate.yaml; the shorter forms that hopgate.yaml allows are resolved.
 */
export const StatedConfig = ProjectFile.extend({
  test: optional(z.array(TestCommandSchema.required({ report: true }).extend({ env: reach.env }))),
  install: optional(z.array(InstallCommandSchema.required({ scripts: true, approval: true }).extend(reach))),
  deploy: optional(z.record(SpecNameSchema, DeployCommandSchema.required({ network: true }).extend(reach))),
  git: optional(
    z.union([
      z
        .strictObject({ url, ca, remote, branch, credential: optional(Credential) })
        .required({ remote: true, branch: true }),
      z.null(),
    ]),
  ),
  commits: optional(z.strictObject({ author, trailer })),
  // A resolved list contains the default one, whose patterns have forms that hopgate.yaml may not state.
  mask: optional(
    z
      .array(z.union([MaskPatternSchema, z.enum(DEFAULT_MASKS)]))
      .max(MAX_MASKS + DEFAULT_MASKS.length, `has more than ${MAX_MASKS} patterns`),
  ),
  cache: optional(z.array(z.strictObject({ folder: CacheFolderSchema, read: z.boolean() }))),
  upstream: optional(
    z.record(
      SpecNameSchema,
      z.union([
        ServerSchema.pick({ command: true, contained: true })
          .required()
          .extend({ env, cwd: z.union([z.null(), z.string()]) }),
        ServerSchema.pick({ url: true, headers: true, contained: true }).required(),
      ]),
    ),
  ),
});
