import { getOrInsert } from '../../base/get-or-insert.ts';
import { compileGlob, type Glob } from '../../base/glob.ts';
import { WritePathsSchema } from '../../spec/schema/path-schema.ts';
import { isTestFile, TEST_FILE_PATTERNS } from '../../spec/test-files.ts';
import { detectMakefileDeploys } from './makefile.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

/** A kind of project. A file or folder at the root identifies it. */
interface Kind {
  readonly sign: RegExp;
  /** Folders that such projects usually create. */
  readonly creates: readonly string[];
  /** Files that decide what is installed and run, and folders that programs fill. */
  readonly excludes: readonly string[];
}

const kind = (sign: RegExp, creates: string, excludes: string): Kind => ({
  sign,
  creates: creates.split(' ').filter(Boolean),
  excludes: excludes.split(' ').filter(Boolean),
});

const C_SIGN = /^(?:CMakeLists\.txt|configure\.ac|meson\.build)$|\.c$/;

const KINDS: readonly Kind[] = [
  kind(/^package\.json$/, 'test/', 'package.json /*.config.* node_modules/ dist/ coverage/'),
  kind(/^deno\.jsonc?$/, 'tests/', 'deno.json* deno.lock'),
  kind(/^go\.mod$/, 'cmd/ internal/ pkg/', 'go.mod go.sum vendor/'),
  kind(/^Cargo\.toml$/, 'src/ tests/ examples/ benches/', 'Cargo.toml Cargo.lock target/'),
  kind(C_SIGN, 'src/ include/ tests/', 'build/'),
  kind(/^(?:pyproject\.toml|setup\.(?:py|cfg))$/, 'tests/', 'pyproject.toml setup.py setup.cfg venv/ __pycache__/'),
  kind(/^(?:Gemfile|gems\.rb|Rakefile)$|\.gemspec$/, 'lib/ spec/', 'Gemfile* gems.* *.gemspec Rakefile vendor/'),
  kind(/^composer\.json$/, 'src/ tests/', 'composer.json composer.lock vendor/'),
  kind(/^(?:pom\.xml|.*\.gradle(?:\.kts)?)$/, 'src/', 'pom.xml *.gradle *.gradle.kts target/ build/'),
  kind(/^build\.sbt$/, 'src/', 'build.sbt project/ target/'),
  kind(/^(?:project\.clj|deps\.edn)$/, 'src/ test/', 'project.clj deps.edn target/'),
  kind(/^mix\.exs$/, 'lib/ test/', 'mix.exs mix.lock deps/ _build/'),
  kind(/^Package\.swift$/, 'Sources/ Tests/', 'Package.swift Package.resolved .build/'),
  kind(/\.(?:slnx?|[cf]sproj)$/, 'src/ tests/', '*.csproj *.fsproj *.sln* Directory.* obj/'),
  kind(/^pubspec\.yaml$/, 'lib/ test/', 'pubspec.yaml pubspec.lock'),
  kind(/^build\.zig$/, 'src/', 'build.zig build.zig.zon zig-out/'),
  kind(/\.cabal$|^stack\.yaml$/, 'src/', '*.cabal cabal.project* stack.yaml* Setup.hs dist-newstyle/'),
  kind(/^dune-project$/, 'lib/ test/', 'dune-project *.opam _build/'),
  kind(/\.rockspec$/, 'spec/', '*.rockspec'),
  kind(/^(?:cpanfile|dist\.ini|(?:Makefile|Build)\.PL)$/, 'lib/ t/', 'cpanfile dist.ini Makefile.PL Build.PL blib/'),
  kind(
    /^(?:alembic\.ini|manage\.py|knexfile\.[cm]?[jt]s|prisma\/|artisan|ormconfig\.\w+|drizzle\.config\.ts)$/,
    'migrations/',
    '',
  ),
];

/** Further names to exclude if they exist in the scope: settings, lock files, generated folders, deploy scripts. */
const EXCLUDED = (
  'tsconfig*.json jsconfig.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml ' +
  'yarn.lock bun.lock* lerna.json nx.json turbo.json biome.json gulpfile.* Gruntfile.* go.work* rust-toolchain* build.rs ' +
  'tox.ini pytest.ini noxfile.py requirements*.txt Pipfile* poetry.lock uv.lock phpunit.xml* gradlew* mvnw* ' +
  'Makefile GNUmakefile makefile Dockerfile Dockerfile.* docker-compose*.y*ml compose.y*ml Jenkinsfile Procfile ' +
  'bower_components/ third_party/ Pods/ out/ site-packages/'
).split(' ');

/**
 * Names of deploy and build files that code and documents may also have. Excluded only if the file looks like a deploy
 * or build file.
 */
const DEPLOY_NAMES = (
  'deploy deploy.* deploy-* deployment.y*ml deploy/ deployment/ infra/ infrastructure/ k8s/ kubernetes/ helm/ charts/ ' +
  'terraform/ ansible/ ops/ ci/ gradle/'
).split(' ');
/** Settings of tools, in the folder of a package. */
const SETTINGS = '*.config.*';

const ALL_EXCLUDED = [...new Set([...KINDS.flatMap(({ excludes }) => excludes), ...EXCLUDED])];
/** Files in which a project names its dependencies. */
const MANIFESTS = (
  'package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml yarn.lock bun.lock* deno.json* ' +
  'deno.lock go.mod go.sum go.work* Cargo.toml Cargo.lock pyproject.toml setup.py setup.cfg requirements*.txt Pipfile* ' +
  'poetry.lock uv.lock Gemfile* gems.rb gems.locked *.gemspec composer.json composer.lock pom.xml *.gradle *.gradle.kts ' +
  'build.sbt project.clj deps.edn mix.exs mix.lock Package.swift Package.resolved *.csproj *.fsproj Directory.* ' +
  'pubspec.yaml pubspec.lock build.zig build.zig.zon *.cabal cabal.project* stack.yaml* dune-project *.opam *.rockspec ' +
  'cpanfile dist.ini Makefile.PL Build.PL'
).split(' ');
/** Files at the root that list the sources of a C program. */
const BUILD_FILES = 'Makefile Makefile.am configure.ac CMakeLists.txt meson.build meson_options.txt'.split(' ');
const INSTRUCTIONS = ['{AGENTS,CLAUDE,GEMINI}.md'];
/** Folders with the output of programs. They are proposed only if git tracks files in them. */
const OUTPUT_FOLDERS = /^(?:build|out|obj|bin|output|tmp|temp|logs?)$/;

const CODE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|go|rs|rb|java|kts?|scala|swift|mm?|c|cc|cpp|cxx|h|hh|hpp|cs|fs|php|p[lm]|lua|r|jl|dart|exs?|[eh]rl|hs|ml|clj|zig|nim|sh|bash|zsh|bats|sql|proto|s?css|html)$/i;
const PROSE = /\.(?:mdx?|markdown|rst|rdoc|adoc|txt)$/i;
/** Hidden folders with notes for the next release, to which each change of the program adds one. */
const RELEASE_NOTES = /^\.(?:changeset|changes|changelog)\/$/;
/** Folders that do not hold the program itself: documents, examples, helpers. */
const NOT_PROGRAM =
  /^(?:docs?|site|website|examples?|samples|demos?|bench(?:es|marks?)?|scripts?|tools|assets|images?|fixtures)\/$/;
/** Maximum number of folders in the proposed scope; with more, it is the whole tree. */
const MAX_FOLDERS = 40;
/** Maximum number of folders that are read to find code, or names to exclude. */
const MAX_LISTED = 300;

/** The folders at the root that git ignores, and the folders with committed files; by name with a slash. */
export interface RootFoldersByGit {
  readonly ignored: ReadonlySet<string>;
  readonly tracked: ReadonlySet<string>;
}

/**
 * The proposed edit scope. If the program is in folders: the folders with code, the folders that such a project usually
 * creates, and globs for the files at the root (`*.go`, `*.md`). If it is at the root itself: `.`. Hidden, generated
 * and configuring files are excluded, because they decide what is installed and run.
 */
export function proposeEditScope(
  tree: ProjectFileReader,
  git: RootFoldersByGit = { ignored: new Set(), tracked: new Set() },
): readonly string[] {
  const names = tree.list('').filter((name) => !name.startsWith('.') || RELEASE_NOTES.test(name));
  const kinds = KINDS.filter(({ sign }) => names.some((name) => sign.test(name)));
  const folders = names.filter((name) => name.endsWith('/') && isProposed(name, git));
  const files = names.filter((name) => !name.endsWith('/'));
  const code = files.filter((name) => CODE.test(name) || (!name.includes('.') && tree.read(name)?.startsWith('#!')));
  const program = folders.filter(
    (name) =>
      !NOT_PROGRAM.test(name) && !RELEASE_NOTES.test(name) && !isTestFolder(name) && holdsName(tree, name, isCode),
  );
  const buildFiles = BUILD_FILES.filter((name) => names.includes(name) && !EXCLUDED.includes(name));
  const isFlat = program.length === 0 && (code.length > 0 || folders.length === 0);
  if (isFlat || folders.length > MAX_FOLDERS) {
    const excludes = kinds.flatMap(({ excludes }) => excludes);
    return [
      '.',
      ...excluded([
        ...['.*', ...excludes, ...INSTRUCTIONS, ...buildFiles.map((name) => `/${name}`)],
        ...existingExclusions(tree, names, folders),
        ...git.ignored,
      ]),
    ];
  }
  const hasTests = folders.some(isTestFolder) || program.some((name) => holdsName(tree, name, isTestFolder));
  const isMissing = (path: string) => (isTestFolder(path) ? !hasTests : !names.includes(path));
  const creates = [...kinds.flatMap((each) => each.creates), ...(names.includes('doc/') ? [] : ['docs/'])];
  const written = code.filter(
    (name) => ![...ALL_EXCLUDED, SETTINGS, ...DEPLOY_NAMES].some((pattern) => matches(pattern, name)),
  );
  const globs = [...written, ...files.filter((name) => PROSE.test(name)), 'README.md'].map((name) =>
    name.includes('.') ? `*${name.slice(name.lastIndexOf('.'))}` : name,
  );
  const paths = [...folders, ...creates.filter(isMissing)].sort().map(asWritePath).filter(isValid);
  const atRoot = files.filter((name) => globs.some((glob) => matches(glob, name)));
  return [
    ...new Set([...paths, ...globs.sort().map(asWritePath).filter(isValid)]),
    ...excluded([
      ...INSTRUCTIONS,
      ...buildFiles.filter((name) => atRoot.includes(name)).map((name) => `/${name}`),
      ...existingExclusions(tree, atRoot, folders),
    ]),
  ];
}

export const excludeTestFiles = (scope: readonly string[]): readonly string[] => [
  ...scope.filter((path) => path.startsWith('!') || !isTestOnlyPath(path)),
  ...TEST_FILE_PATTERNS.map((pattern) => `!${pattern}`),
];

const isC = (names: readonly string[]): boolean => names.some((name) => C_SIGN.test(name));

const manifestPatterns = (tree: ProjectFileReader): readonly string[] =>
  isC(tree.list('')) && detectMakefileDeploys(tree).length === 0 ? [...MANIFESTS, ...BUILD_FILES] : MANIFESTS;

/** The manifests, lock files and, of a C program, build files at the root. */
export function listManifests(tree: ProjectFileReader): readonly string[] {
  const patterns = manifestPatterns(tree);
  return tree.list('').filter((name) => patterns.some((pattern) => matches(pattern, name)));
}

export function addManifestsToScope(scope: readonly string[], tree: ProjectFileReader): readonly string[] {
  const patterns = manifestPatterns(tree);
  return [
    ...(scope[0] === '.' ? [] : listManifests(tree).map(asWritePath).filter(isValid)),
    ...scope.filter((path) => !patterns.some((pattern) => path === `!${pattern}` || path === `!/${pattern}`)),
  ];
}

export const isTestOnlyPath = (path: string): boolean => isTestFile(path.endsWith('/') ? `${path}a` : path);
const isTestFolder = (name: string): boolean => name.endsWith('/') && isTestOnlyPath(name);
const isCode = (name: string): boolean => CODE.test(name);

const isProposed = (folder: string, { ignored, tracked }: RootFoldersByGit): boolean =>
  tracked.has(folder) && OUTPUT_FOLDERS.test(folder.slice(0, -1))
    ? true
    : !ignored.has(folder) &&
      !OUTPUT_FOLDERS.test(folder.slice(0, -1)) &&
      ![...ALL_EXCLUDED, ...DEPLOY_NAMES].some((each) => matches(each, folder));

const compiled = new Map<string, Glob>();

/** True if a pattern for folders (`dist/`) or files matches a name of a listing. */
const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('/')
    ? pattern === name
    : !name.endsWith('/') && getOrInsert(compiled, pattern, () => compileGlob(pattern))([name]);

const excluded = (patterns: readonly string[]): readonly string[] =>
  [...new Set(patterns)].map((each) => `!${each}`).filter(isValid);

/** A name as a write path. A leading `!` would make it an exclusion. */
const asWritePath = (path: string): string => (path.startsWith('!') ? `./${path}` : path);

/** False for names that no write path can express, such as `a(b|c)`. */
const isValid = (path: string): boolean => WritePathsSchema.safeParse(['.', path]).success;

interface Listing {
  /** The path of a folder of the scope; `''` is the root. */
  readonly at: string;
  readonly names: readonly string[];
}

/** The exclusions for names at the root and in the upper two levels of the folders. */
function existingExclusions(
  tree: ProjectFileReader,
  names: readonly string[],
  folders: readonly string[],
): readonly string[] {
  const listing = (at: string): Listing => ({ at, names: tree.list(at) });
  const first = folders.slice(0, MAX_LISTED).map(listing);
  const below = first.flatMap(({ at, names: inner }) =>
    inner.filter((name) => name.endsWith('/') && !matchesAny(name)).map((name) => `${at}${name}`),
  );
  const all = [{ at: '', names }, ...first, ...below.slice(0, MAX_LISTED).map(listing)];
  const found = [...new Set(all.flatMap((each) => each.names))];
  return [
    ...ALL_EXCLUDED.filter(
      (pattern) => found.some((name) => matches(pattern, name)) && !folders.some((folder) => matches(pattern, folder)),
    ),
    ...all.flatMap((each) => exclusionsIn(tree, each)),
  ];
}

/** Patterns for the settings and deploy files in a folder; for `packages/a/`, they cover all packages. */
function exclusionsIn(tree: ProjectFileReader, { at, names }: Listing): readonly string[] {
  const isPackage = at === '' || names.includes('package.json');
  const patterns = [
    ...(isPackage && names.some((name) => matches(SETTINGS, name)) ? [SETTINGS] : []),
    ...DEPLOY_NAMES.filter((pattern) => names.some((name) => matches(pattern, name) && isShippingFile(tree, at, name))),
  ];
  const folder = at === '' ? '/' : at.replace(/^([^/]+)\/[^/]+\/$/, '$1/*/');
  return patterns.map((pattern) => `${folder}${pattern}`);
}

const SCRIPTS = /(?:^|\/)(?:bin|scripts?|tools|ci)\/$/;
/** Code and documents, which are never a deploy file. */
const OWN_TEXT = new RegExp(`^(?!readme)(?!.*\\.(?:sh|bash)$).*(?:${CODE.source}|${PROSE.source})`, 'i');

const isShippingFile = (tree: ProjectFileReader, at: string, name: string): boolean =>
  name.endsWith('/')
    ? at === '' || !holdsName(tree, `${at}${name}`, (each) => OWN_TEXT.test(each))
    : !PROSE.test(name) && (at === '' || SCRIPTS.test(at) || /\.(?:sh|ya?ml)$/.test(name));

const matchesAny = (name: string): boolean => ALL_EXCLUDED.some((pattern) => matches(pattern, name));

/** True if the predicate holds for a name at any depth of a folder. Generated folders are not searched. */
function holdsName(tree: ProjectFileReader, folder: string, isSuch: (name: string) => boolean): boolean {
  const open = [folder];
  for (let listed = 0; listed < MAX_LISTED && open.length > 0; listed++) {
    const at = open.shift()!;
    const names = tree.list(at);
    if (names.some(isSuch)) return true;
    const inner = names.filter((name) => name.endsWith('/') && !name.startsWith('.') && !matchesAny(name));
    open.push(...inner.map((name) => `${at}${name}`));
  }
  return false;
}
