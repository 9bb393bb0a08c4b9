import { optional, z } from 'zod';
import { expandBraces, globProblem } from '../../base/glob.ts';
import { MAX_MASK_LENGTH } from '../policy/limits.ts';
import { reportProblem } from './path-schema.ts';

export const CommandWordsSchema = z
  .array(z.string().regex(/^[^\0]+$/, 'a word of a command must not be empty or contain a NUL character'))
  .min(1);
// The name of a git remote. Names that git would read as an option, a range or a pattern are refused.
export const GitRemoteSchema = z.string().regex(/^[^-\s\0][^\s\0]*$/, 'is not a remote: no blank, no - in front');
export const GitBranchSchema = z
  .string()
  .regex(/^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock$|\/$))(?:[\w./*-]+|[^\s\0~^:?*[\\]+)$/, 'is not the name of a branch');
export const GitPersonSchema = z
  .string()
  .regex(/^[^<>\p{Cc}]*[^<>\s\p{Cc}] <[^<>\s\p{Cc}@]+@[^<>\s\p{Cc}@]+>$/u, 'is not Name <address>');
export const CommitTrailerSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]*: [^\s\p{Cc}][^\p{Cc}]*$/u, 'is not a trailer: write Co-authored-by: Name <address>');
export const HostSchema = z
  .string()
  .regex(
    /^(?:(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/,
    'is not a host: write example.com, *.example.com, example.com:8443, 10.0.0.5:22 or [::1]:8080',
  );
export const FolderPathSchema = z
  .string()
  .regex(/^(?:\/|~\/)[^\0]*$/, 'is not an absolute folder: begin with / or with ~/ for the home folder');
export const FilePathSchema = z
  .string()
  .regex(/^(?:\/|~\/)[^\0]+$/, 'is not the path of a file: begin with / or with ~/ for the home folder');
// A file for ssh. Its path becomes part of a command line, so special characters are refused.
export const SshFileSchema = z
  .string()
  .regex(
    /^(?:\/|~\/)[\p{L}\p{N}_./@+:,=~-]+$/u,
    'is not the path of a file: begin with / or ~/; letters, digits and . _ - / only, no blanks',
  );
export const RemoteUrlSchema = z
  .string()
  .regex(
    /^(?:https:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?\/[^\s\0]+|ssh:\/\/(?:[\w.-]+@)?(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d+)?\/[^\s\0]+|(?:[\w.-]+@)?\w[\w.-]*:(?![:/]\/)[^\s\0:]+)$/i,
    'is not an https:// or ssh address of a repository, or contains a user name or password before an https host',
  );
export const ProgramNameSchema = z.string().regex(/^[\w+][\w.+-]*$/, 'is not the name of a program: no path, no blank');
export const EnvNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable');
export const TextLineSchema = z.string().regex(/^[^\0\r\n]*$/, 'is not one line of text');
export const EnvTableSchema = optional(
  z.union([z.array(EnvNameSchema), z.record(EnvNameSchema, TextLineSchema)]),
).describe(
  "Additional environment variables: names to pass from hopgate's own environment, or values; ${NAME} in a value is replaced by a variable of that environment.",
);
export const HostListSchema = optional(z.array(HostSchema)).describe(
  "The only hosts that the command reaches, through hopgate's proxy: ports 80 and 443, or the stated one. A host that is not public also needs its address in this list.",
);
export const SecretProgramsSchema = optional(z.record(EnvNameSchema, CommandWordsSchema)).describe(
  'Variables whose values a program of yours prints, such as { NPM_TOKEN: [pass, show, npm] }; it runs as you, outside the sandbox.',
);
export const SshLoginSchema = optional(
  z.strictObject({
    key: SshFileSchema.describe('A private key without a passphrase; outside the repository.'),
    'known-hosts': SshFileSchema.optional().describe("The file with the host's key; ~/.ssh/known_hosts if left out."),
  }),
).describe('The key with which ssh logs in; the command can read the key.');
export const TimeoutMinutesSchema = optional(
  z
    .number()
    .positive()
    .max(24 * 60),
);
export const CacheFolderSchema = z
  .string()
  .regex(
    /^(?:~\/)?(?!\/|~)(?!(?:.*\/)?\.{1,2}(?:\/|$))(?!(?:.*\/)?\.git(?:\/|$))[^\0\\]+$/,
    'is not a folder of the home folder (~/…) or of the tree: no .., nothing in .git',
  );
// A name that is `.`, `..` or empty matches no path, so a mask with one would protect nothing.
const MASK_PATTERN = /^(?:!\/?)?(?:\.\/)*(?!~\/|!)(?:(?!\.{1,2}(?:\/|$))[^/\\\0]+(?:\/+$|\/(?!\/)|$))+$/;
const NO_MASK =
  'is not a pattern inside the root: no leading / or ~/, no backslash, no names . and .., no //, not empty';
export const MaskPatternSchema = z
  .string()
  .max(MAX_MASK_LENGTH, `is longer than ${MAX_MASK_LENGTH} characters`)
  .superRefine(reportProblem(globProblem))
  .refine((pattern) => expandBraces(pattern).every((each) => MASK_PATTERN.test(each)), NO_MASK)
  .meta({ pattern: MASK_PATTERN.source });
