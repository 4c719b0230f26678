import ts from 'typescript-6';

/** One place where a file names another module. */
export interface SourceImport {
  readonly specifier: string;
  readonly line: number;
  /** Whether nothing of it is left in the compiled JavaScript. */
  readonly isTypeOnly: boolean;
}

/**
 * Returns every import of a source text: static, `export from`, dynamic, `import type` and `import('…')` in a type, and
 * `require`. It uses the parser of TypeScript 6, since TypeScript 7 has none to offer yet. A regular expression would
 * also match comments and strings.
 */
export function importsOf(text: string): SourceImport[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const found: SourceImport[] = [];
  const visit = (node: ts.Node): void => {
    const name = moduleNameOf(node);
    if (name) found.push(importAt(file, node, name));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function importAt(file: ts.SourceFile, node: ts.Node, name: ts.Expression): SourceImport {
  const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  // A name that is computed at run time could be anything.
  const specifier = ts.isStringLiteralLike(name) ? name.text : `(computed) ${name.getText()}`;
  return { specifier, line, isTypeOnly: isTypeOnly(node) };
}

function moduleNameOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal as ts.Expression;
  if (ts.isExternalModuleReference(node)) return node.expression;
  return ts.isCallExpression(node) && loadsModule(node.expression) ? node.arguments[0] : undefined;
}

function loadsModule(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}
