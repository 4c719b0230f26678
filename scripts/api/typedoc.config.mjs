import { at, ENTRIES } from '../build/entries.mjs';

/** The kinds that must have a docstring: all that a reader finds by name. Overloads and parameters share that of their function. */
const DOCUMENTED = [
  'Accessor',
  'Class',
  'Enum',
  'EnumMember',
  'Function',
  'Interface',
  'Method',
  'Namespace',
  'Property',
  'TypeAlias',
  'Variable',
];

/** Types that public ones mention, and that an application has no use for. Each by its file and its name. */
const NOT_EXPORTED = {
  // Refusals of a method by a decorator: the compiler prints the sentence, and nobody writes these types.
  'lib/decorators/method-check.ts': [
    'CannotLock',
    'Complaint',
    'JobComplaint',
    'MemberOf',
    'NotStatic',
    'OnInstance',
    'OrElse',
    'RouteComplaint',
    'SecondChoice',
    'Unless',
  ],
  // Parts of an exported type, which shows what they consist of.
  'lib/contract/granted-lease.ts': ['LossListener', 'OwnPart'],
  'lib/decorators/segment-lock.decorator.ts': ['Routing'],
  'lib/testing/nest/lock-testing.ts': ['ModuleBuilder'],
  'lib/zookeeper/client/dialer.ts': ['TlsOptions'],
  'lib/zookeeper/wire/records.ts': ['Stat'],
  // Parameters of a constructor that only Nest calls.
  'lib/service/acquisition-gate.ts': ['AcquisitionGate'],
  'lib/service/lock-service.options.ts': ['LockServiceOptions'],
};

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: 'nestjs-distributed-lock',
  entryPoints: ENTRIES.map((name) => at(`lib/${name}.ts`)),
  tsconfig: at('tsconfig.build.json'),
  readme: at('README.md'),
  // The front page links to them, and docstrings may. No page of `docs` links to what is not published.
  projectDocuments: [at('docs/**/*.md'), at('CHANGELOG.md')],
  out: at('build/api'),
  treatWarningsAsErrors: true,
  validation: { invalidLink: true, invalidPath: true, notDocumented: true, notExported: true, rewrittenLink: true },
  requiredToBeDocumented: DOCUMENTED,
  intentionallyNotExported: Object.entries(NOT_EXPORTED).flatMap(([file, names]) =>
    names.map((name) => `${file}:${name}`),
  ),
  highlightLanguages: ['bash', 'go', 'ini', 'java', 'json', 'python', 'sql', 'typescript', 'yaml'],
  ignoredHighlightLanguages: ['conf', 'mermaid'],
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  // No address of the repository is known before its release.
  disableSources: true,
};
