/** Returns a table in Markdown. The formatter aligns it. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = columns.map(() => '---');
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
