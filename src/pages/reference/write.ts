/** Helpers for Markdown. Each page is written once, and its HTML page is rendered from the same text. */

/** A table. Cells are our own texts, so only a bar or a line break could end a cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Code between fences. */
export const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

/** Joins sections with an empty line. Omits null and false. */
export const sections = (...parts: readonly (string | null | false)[]): string => parts.filter(Boolean).join('\n\n')

/** A value as readable JSON. */
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
