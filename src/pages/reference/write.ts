/** Writes Markdown: each page is made once, and the HTML page is the same text rendered. */

/** A table; cells are text of ours, in which only the bar must be kept from ending the cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Code between fences. */
export const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

/** Sections with an empty line between them; those that are null are left out. */
export const sections = (...parts: readonly (string | null | false)[]): string => parts.filter(Boolean).join('\n\n')

/** A value as readable JSON. */
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
