/** A table in Markdown; the formatter lays it out. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = columns.map(() => '---');
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
