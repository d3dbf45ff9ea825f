/** RFC 4180 lines; a cell is quoted when it holds a comma, a quote or a line break. */
export const csvLine = (cells: readonly string[]): string => cells.map(csvCell).join(',')

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
